import * as z from 'zod';
import { declare, type Output } from '../option.ts';
import { changeFilterRules } from '../options/change-filter.ts';
import { changeStreamOptions, type ResolvedStream, streamOf } from '../options/change-stream.ts';
import { commonOf, emulatorTakesNoKey, metricsOptions, placeOptions, type ResolvedCommon } from '../options/common.ts';
import { bareTableHasHome, destinationOptions, tableOf } from '../options/destination.ts';
import { changeEmissionOf, changeEmissionOptions, type ResolvedEmission } from '../options/emission.ts';
import { type ResolvedSlots, slotRules, slotsOf, streamSlotOptions } from '../options/slots.ts';
import { firestoreOptions, type ResolvedFirestore } from '../options/staging.ts';
import { type Reading, readSection } from '../read.ts';
import { brokenRules, type Rule } from '../rules.ts';
import type { Kind } from './kind.ts';

const { table } = destinationOptions;

const options = {
  table: declare(
    table,
    'Table whose changes are read: its id, which needs project and instance, or its whole address.',
    {
      type: 'text or section',
      bounds: 'a table id or {project, instance, table}',
      isRequired: true,
    },
  ),
  ...changeStreamOptions,
  ...changeEmissionOptions,
  ...streamSlotOptions,
  ...firestoreOptions,
};

type ChangeStreamSourceOptions = Output<typeof options & typeof placeOptions & typeof metricsOptions>;

/** Every change of a table is handed to a topic, in the order of each row. */
export interface ResolvedChangeStreamSource extends ResolvedCommon {
  readonly kind: 'change-stream-source';
  readonly appProfileId: string;
  readonly table: { readonly project: string; readonly instance: string; readonly table: string };
  readonly stream: ResolvedStream;
  readonly emission: ResolvedEmission & { readonly topic: string };
  readonly slots: ResolvedSlots;
  readonly firestore: ResolvedFirestore;
}

const section: z.ZodObject = z.strictObject({
  kind: declare(z.literal('change-stream-source'), 'The kind of pipeline.', {
    type: 'choice',
    bounds: '"change-stream-source"',
    isRequired: true,
  }),
  ...placeOptions,
  ...options,
  ...metricsOptions,
});

const tableIsNamed: Rule<ChangeStreamSourceOptions> = ({ isSet }) =>
  isSet('table') ? [] : [{ at: ['table'], rule: 'is required' }];

const profileIsNamed: Rule<ChangeStreamSourceOptions> = ({ isSet }) =>
  isSet('appProfileId')
    ? []
    : [
        {
          at: ['appProfileId'],
          rule: 'is required: the service gives changes only by a profile that routes to one cluster',
        },
      ];

const rules: readonly Rule<ChangeStreamSourceOptions>[] = [
  tableIsNamed,
  profileIsNamed,
  bareTableHasHome,
  emulatorTakesNoKey,
  ...slotRules,
  ...changeFilterRules,
];

/** The changes of a table. */
export const changeStreamSource: Kind<ResolvedChangeStreamSource> = {
  section,
  shared: [
    ...Object.keys(placeOptions),
    'firestoreDatabase',
    ...Object.keys(streamSlotOptions),
    ...Object.keys(metricsOptions),
  ],
  resolve(name, value, path) {
    const { partial, complete, problems } = readSection(section, value, path) as Reading<ChangeStreamSourceOptions>;
    const broken = brokenRules(rules, name, partial, value, path);
    const pipeline = complete && broken.length === 0 ? resolved(complete) : undefined;
    return { pipeline, problems: [...problems, ...broken], warnings: [] };
  },
};

function resolved(written: ChangeStreamSourceOptions): ResolvedChangeStreamSource {
  const address = tableOf(written);
  if (!address) throw new TypeError('the rules let a source of changes pass that has no table');
  const { project, firestoreDatabase, appProfileId } = written;
  if (appProfileId === undefined) throw new TypeError('the rules let a source of changes pass that has no app profile');
  return {
    kind: 'change-stream-source',
    table: address,
    stream: streamOf(written),
    emission: changeEmissionOf(written),
    slots: slotsOf(written),
    firestore: { ...(project !== undefined && { project }), database: firestoreDatabase },
    ...commonOf(written),
    appProfileId,
  };
}
