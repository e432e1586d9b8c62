import type { ConfigProblem } from '../../../base/errors.ts';
import { qualify } from '../../addresses.ts';
import { formatPath, problem, type Path } from '../../problems.ts';
import { isSection, type Readable } from '../../read.ts';
import { formatDuration } from '../../units.ts';
import { IN_FLIGHT_WARNINGS } from '../../options/writer.ts';
import type { BulkSinkOptions } from './options.ts';
import { subscriptionId } from './resolved.ts';

/**
 * Rules between the options of a bulk sink. An option that is wrong by itself is missing from the values, and breaks
 * none of them: its own problem says enough. Pure.
 */

interface Subject {
  readonly name: string;
  readonly options: Readable<BulkSinkOptions>;
  /** Whether the document sets an option, rightly or wrongly. */
  readonly isSet: (option: keyof BulkSinkOptions) => boolean;
}

interface BrokenRule {
  readonly at: Path;
  readonly rule: string;
  readonly got?: unknown;
}

type Rule = (subject: Subject) => readonly BrokenRule[];

const MAX_SUBSCRIPTION_ID = 255;

const RULES: readonly Rule[] = [
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
  function deadLetterHasItsPolicy({ options: { failurePolicy }, isSet }) {
    if (failurePolicy === undefined || (failurePolicy === 'dead-letter') === isSet('deadLetter')) return [];
    return isSet('deadLetter')
      ? [{ at: ['failurePolicy'], rule: 'must be "dead-letter" where deadLetter is set', got: failurePolicy }]
      : [{ at: ['deadLetter'], rule: 'is required by the failurePolicy dead-letter' }];
  },
  function creationHasItsDisposition({ options: { createDisposition }, isSet }) {
    const isWanted = createDisposition === 'create-if-needed';
    if (createDisposition === undefined || isWanted === isSet('tableCreateOptions')) return [];
    return isWanted
      ? [{ at: ['tableCreateOptions'], rule: 'is required by the createDisposition create-if-needed' }]
      : [
          {
            at: ['createDisposition'],
            rule: 'must be "create-if-needed" where tableCreateOptions is set',
            got: createDisposition,
          },
        ];
  },
  function deadLettersDoNotComeBack({ options: { topic, deadLetter, project } }) {
    if (topic === undefined || deadLetter?.topic === undefined) return [];
    if (qualify(topic, 'topics', project) !== qualify(deadLetter.topic, 'topics', project)) return [];
    const rule = 'must not be the topic of the pipeline: its dead letters would come back';
    return [{ at: ['deadLetter', 'topic'], rule, got: deadLetter.topic }];
  },
  function defaultSubscriptionIsShortEnough({ name, options: { topic }, isSet }) {
    if (topic === undefined || isSet('subscription')) return [];
    if (subscriptionId(name, topic).length <= MAX_SUBSCRIPTION_ID) return [];
    const rule = `is required because the default, topic id and pipeline name, is longer than ${MAX_SUBSCRIPTION_ID} characters`;
    return [{ at: ['subscription'], rule }];
  },
  function backoffsGrow({ options: { writerOptions: writer } }) {
    return (['retry', 'recovery'] as const).flatMap((name) => {
      const [initial, max] = [writer?.[`${name}InitialBackoff`], writer?.[`${name}MaxBackoff`]];
      if (initial === undefined || max === undefined || initial <= max) return [];
      const rule = `must be at least ${name}InitialBackoff (${formatDuration(initial)})`;
      return [{ at: ['writerOptions', `${name}MaxBackoff`], rule, got: formatDuration(max) }];
    });
  },
  function marginLeavesTime({ options: { deadlineMargin: margin, ackDeadline } }) {
    if (margin === undefined || ackDeadline === undefined || margin < ackDeadline) return [];
    const rule = `must be below ackDeadline (${formatDuration(ackDeadline)})`;
    return [{ at: ['deadlineMargin'], rule, got: formatDuration(margin) }];
  },
];

/** The problems between options; `value` is the section as written, over the defaults. */
export function brokenRules(
  name: string,
  options: Readable<BulkSinkOptions>,
  value: unknown,
  path: Path,
): ConfigProblem[] {
  const subject: Subject = { name, options, isSet: (option) => isSection(value) && value[option] !== undefined };
  return RULES.flatMap((rule) => rule(subject)).map(({ at, rule, got }) => problem([...path, ...at], rule, got));
}

/** Above these the instance's memory, not the option, is what bounds the sink: that works, and is worth a warning. */
export function inFlightWarnings({ writerOptions: writer }: Readable<BulkSinkOptions>, path: Path): string[] {
  return Object.entries(IN_FLIGHT_WARNINGS).flatMap(([key, limit]) => {
    const value = writer?.[key as keyof typeof IN_FLIGHT_WARNINGS];
    if (value === undefined || value <= limit) return [];
    const where = formatPath([...path, 'writerOptions', key]);
    return `${where}: ${value} is above ${limit}, what official clients keep in flight; the memory of the instance, not this option, may be what bounds the sink`;
  });
}
