import { CONNECTOR, FAILURE_NAMES, isScanLetter, LETTER_ATTRIBUTES } from '../../../shared/letters/attributes.ts';
import { nameAndValue } from '../publish/attributes.ts';
import type { OutgoingMessage } from '../../../shared/model/publishing.ts';
import type { PulledMessage } from '../ports.ts';

/** What a dead letter says of itself in its `dlq-*` attributes. Pure. */

type Attributes = Readonly<Record<string, string>>;

export interface LetterFilter {
  /** The pipeline, and those whose letters it takes over. */
  readonly pipelines: readonly string[];
  /** Every pair must match exactly. */
  readonly where: readonly (readonly [name: string, value: string])[];
  /** RFC 3339. A letter that was filed later is left: it may be one of this very replay, whose cause is not fixed. */
  readonly filedBefore: string;
}

/** @throws {CommandError} where a condition is not `name=value`. */
export const parseWhere = (texts: readonly string[]): LetterFilter['where'] =>
  texts.map((text) => nameAndValue(text, '--where'));

/** The pipeline that filed a letter; undefined for what is no letter of this connector. A topic may hold others too. */
export const filedBy = ({ attributes }: PulledMessage): string | undefined =>
  attributes[LETTER_ATTRIBUTES.connector.name] === CONNECTOR ? attributes[LETTER_ATTRIBUTES.pipeline.name] : undefined;

/** A letter of one of these pipelines, with these attributes. */
export function isWanted(letter: PulledMessage, { pipelines, where, filedBefore }: LetterFilter): boolean {
  const { attributes } = letter;
  const pipeline = filedBy(letter);
  return (
    pipeline !== undefined &&
    pipelines.includes(pipeline) &&
    !isScanLetter(attributes) &&
    (attributes[LETTER_ATTRIBUTES.timestamp.name] ?? '') < filedBefore &&
    where.every(([name, value]) => Object.hasOwn(attributes, name) && attributes[name] === value)
  );
}

/**
 * The message to publish again: the letter's data and attributes, as they are. What describes the failure is taken off,
 * and so is what Pub/Sub keeps for itself and would refuse.
 */
export function republished({ data, attributes }: PulledMessage): OutgoingMessage {
  const kept = Object.entries(attributes).filter(([name]) => !FAILURE_NAMES.has(name) && !name.startsWith('goog'));
  return { data, attributes: Object.fromEntries(kept) };
}

/** Letters that fail alike, for the table. */
export interface LetterGroup {
  readonly reason: string;
  readonly destination: string;
  readonly payload: string;
  count: number;
  /** ISO 8601, as the letters say. */
  oldest: string;
  newest: string;
}

export interface LetterSummary {
  readonly groups: Map<string, LetterGroup>;
  /** Attributes of the first few letters, without their data. */
  readonly samples: Attributes[];
  /** Letters of groups that there was no room for. */
  ungrouped: number;
}

const MAX_GROUPS = 50;
const MAX_SAMPLES = 3;

export const createSummary = (): LetterSummary => ({ groups: new Map(), samples: [], ungrouped: 0 });

export function addLetter(summary: LetterSummary, { attributes }: PulledMessage): void {
  const said = (attribute: keyof typeof LETTER_ATTRIBUTES): string =>
    attributes[LETTER_ATTRIBUTES[attribute].name] ?? '-';
  const [reason, destination, payload, at] = [said('reason'), said('destination'), said('payload'), said('timestamp')];
  const key = [reason, destination, payload].join('\n');
  const group = summary.groups.get(key);
  if (group) {
    group.count += 1;
    if (at < group.oldest) group.oldest = at;
    if (at > group.newest) group.newest = at;
  } else if (summary.groups.size < MAX_GROUPS) {
    summary.groups.set(key, { reason, destination, payload, count: 1, oldest: at, newest: at });
  } else {
    summary.ungrouped += 1;
  }
  if (summary.samples.length < MAX_SAMPLES) summary.samples.push(attributes);
}

/** Rows of the table, most letters first, under their headings. */
export const groupRows = ({ groups }: LetterSummary): string[][] => [
  ['REASON', 'DESTINATION', 'PAYLOAD', 'LETTERS', 'OLDEST', 'NEWEST'],
  ...[...groups.values()]
    .toSorted((left, right) => right.count - left.count)
    .map(({ reason, destination, payload, count, oldest, newest }) => [
      reason,
      destination,
      payload,
      String(count),
      oldest,
      newest,
    ]),
];

export const sampleLines = ({ samples }: LetterSummary): string[] =>
  samples.flatMap((attributes, index) => [
    `sample ${index + 1}`,
    ...Object.entries(attributes)
      .toSorted(([left], [right]) => (left < right ? -1 : 1))
      .map(([name, value]) => `  ${name}: ${JSON.stringify(value)}`),
  ]);
