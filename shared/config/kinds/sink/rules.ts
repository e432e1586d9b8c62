import type { ConfigProblem } from '../../../base/errors.ts';
import { qualify } from '../../addresses.ts';
import { problem, type Path } from '../../problems.ts';
import { isSection, type Readable } from '../../read.ts';
import { formatDuration } from '../../units.ts';
import type { SinkOptions } from './options.ts';
import { subscriptionId } from './resolved.ts';

/**
 * Rules between the options of a sink. An option that is wrong by itself is missing from the values, and breaks none of
 * them: its own problem says enough. Pure.
 */

export interface Subject<Options> {
  readonly name: string;
  readonly options: Readable<Options>;
  /** Whether the document sets an option, rightly or wrongly. */
  readonly isSet: (option: keyof Options) => boolean;
}

export interface BrokenRule {
  readonly at: Path;
  readonly rule: string;
  /** Where it is not what the document says there. */
  readonly got?: unknown;
}

export type Rule<Options> = (subject: Subject<Options>) => readonly BrokenRule[];

/** Ids of topics and subscriptions. */
export const MAX_RESOURCE_ID = 255;

/** Rules of every sink. */
export const sinkRules: readonly Rule<SinkOptions>[] = [
  function hasOneWayToSerialize({ isSet }) {
    if (isSet('serializer') !== isSet('mapping')) return [];
    return isSet('mapping')
      ? [{ at: ['serializer'], rule: 'must not be set beside mapping: one of them says what a record becomes' }]
      : [{ at: ['serializer'], rule: 'is required unless there is a mapping' }];
  },
  function hasPlaceToWriteTo({ options: { serializer, mapping }, isSet }) {
    if (isSet('table') || isSet('destinationAttribute')) return [];
    const mayName = isSet('mapping') ? isSection(mapping) && mapping.destination !== undefined : serializer !== 'entry';
    if (mayName) return [];
    return [
      {
        at: ['table'],
        rule: 'is required unless destinationAttribute, mapping.destination or a module serializer names it',
      },
    ];
  },
  function bareTableHasHome({ options: { table }, isSet }) {
    if (typeof table !== 'string') return [];
    const missing = (['project', 'instance'] as const).filter((part) => !isSet(part));
    return missing.map((part) => ({ at: [part], rule: 'is required because table is a bare table id' }));
  },
  function emulatorTakesNoKey({ options: { emulatorEndpoint }, isSet }) {
    if (emulatorEndpoint === undefined || !isSet('serviceAccountKeyFile')) return [];
    const rule = 'must not be set beside serviceAccountKeyFile: an emulator takes no credentials';
    return [{ at: ['emulatorEndpoint'], rule, got: emulatorEndpoint }];
  },
  function deadLettersDoNotComeBack({ options: { topic, deadLetter, project } }) {
    if (topic === undefined || deadLetter?.topic === undefined) return [];
    if (qualify(topic, 'topics', project) !== qualify(deadLetter.topic, 'topics', project)) return [];
    const rule = 'must not be the topic of the pipeline: its dead letters would come back';
    return [{ at: ['deadLetter', 'topic'], rule, got: deadLetter.topic }];
  },
  function defaultSubscriptionIsShortEnough({ name, options: { topic }, isSet }) {
    if (topic === undefined || isSet('subscription')) return [];
    if (subscriptionId(name, topic).length <= MAX_RESOURCE_ID) return [];
    const rule = `is required because the default, topic id and pipeline name, is longer than ${MAX_RESOURCE_ID} characters`;
    return [{ at: ['subscription'], rule }];
  },
  function marginLeavesTime({ options: { deadlineMargin: margin, ackDeadline } }) {
    if (margin === undefined || ackDeadline === undefined || margin < ackDeadline) return [];
    const rule = `must be below ackDeadline (${formatDuration(ackDeadline)})`;
    return [{ at: ['deadlineMargin'], rule, got: formatDuration(margin) }];
  },
];

/** Of sinks whose dead letters come from one policy alone. */
export const deadLetterHasItsPolicy: Rule<SinkOptions> = ({ options: { failurePolicy }, isSet }) => {
  if (failurePolicy === undefined || (failurePolicy === 'dead-letter') === isSet('deadLetter')) return [];
  return isSet('deadLetter')
    ? [{ at: ['failurePolicy'], rule: 'must be "dead-letter" where deadLetter is set', got: failurePolicy }]
    : [{ at: ['deadLetter'], rule: 'is required by the failurePolicy dead-letter' }];
};

/** The problems between options; `value` is the section as written, over the defaults. */
export function brokenRules<Options>(
  rules: readonly Rule<Options>[],
  name: string,
  options: Readable<Options>,
  value: unknown,
  path: Path,
): ConfigProblem[] {
  const isSet = (option: keyof Options): boolean => isSection(value) && value[option as string] !== undefined;
  return rules
    .flatMap((rule) => rule({ name, options, isSet }))
    .map(({ at, rule, got }) => problem([...path, ...at], rule, got ?? valueAt(value, at)));
}

/** What the document says at a path, as written. */
const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((inner, key) => (isSection(inner) ? inner[key] : undefined), value);
