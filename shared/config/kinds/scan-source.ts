import * as z from 'zod';
import { backwardsProblems } from '../../mapping/backwards/problems.ts';
import { type MappingResult, resolveMapping } from '../../mapping/declared/resolve.ts';
import type { ReadSchemaFile } from '../../mapping/declared/resolve-format.ts';
import type { ResolvedMapping } from '../../mapping/declared/resolved.ts';
import { declare, type Output } from '../option.ts';
import { commonOf, emulatorTakesNoKey, metricsOptions, placeOptions, type ResolvedCommon } from '../options/common.ts';
import { emissionOf, emissionOptions, emissionRules, type ResolvedEmission } from '../options/emission.ts';
import { formOf, formOptions, formRules, type ResolvedScanForm } from '../options/scan-form.ts';
import {
  readingOf,
  type ResolvedRuns,
  type ResolvedScanReading,
  runOptions,
  runsOf,
  scanReadOptions,
  scanRules,
} from '../options/scan.ts';
import { type ResolvedSelection, selectionOf, selectionOptions, selectionRules } from '../options/scan-selection.ts';
import { type ResolvedSlots, slotOptions, slotRules, slotsOf } from '../options/slots.ts';
import { bareTableHasHome, destinationOptions, tableOf } from '../options/destination.ts';
import { firestoreOptions, type ResolvedFirestore } from '../options/staging.ts';
import { formatPath, type Path } from '../problems.ts';
import { isSection, type Reading, readSection } from '../read.ts';
import { brokenRules, type Rule } from '../rules.ts';
import type { Kind } from './kind.ts';

const { table } = destinationOptions;

const options = {
  table: declare(table, 'Table that is read: its id, which needs project and instance, or its whole address.', {
    type: 'text or section',
    bounds: 'a table id or {project, instance, table}',
    isRequired: true,
  }),
  ...selectionOptions,
  ...formOptions,
  ...emissionOptions,
  ...scanReadOptions,
  ...runOptions,
  ...slotOptions,
  ...firestoreOptions,
};

type ScanSourceOptions = Output<typeof options & typeof placeOptions & typeof metricsOptions>;

/** A table, or ranges of it, is read once, and every row handed to a topic. */
export interface ResolvedScanSource extends ResolvedCommon {
  readonly kind: 'scan-source';
  readonly table: { readonly project: string; readonly instance: string; readonly table: string };
  readonly selection: ResolvedSelection;
  readonly form: ResolvedScanForm;
  readonly emission: ResolvedEmission;
  readonly reading: ResolvedScanReading;
  readonly runs: ResolvedRuns;
  readonly slots: ResolvedSlots;
  readonly firestore: ResolvedFirestore;
}

const section: z.ZodObject = z.strictObject({
  kind: declare(z.literal('scan-source'), 'The kind of pipeline.', {
    type: 'choice',
    bounds: '"scan-source"',
    isRequired: true,
  }),
  ...placeOptions,
  ...options,
  ...metricsOptions,
});

const tableIsNamed: Rule<ScanSourceOptions> = ({ isSet }) =>
  isSet('table') ? [] : [{ at: ['table'], rule: 'is required' }];

const rules: readonly Rule<ScanSourceOptions>[] = [
  tableIsNamed,
  bareTableHasHome,
  emulatorTakesNoKey,
  ...selectionRules,
  ...formRules,
  ...scanRules,
  ...emissionRules,
  ...slotRules,
];

/** A bounded scan of a table. */
export const scanSource: Kind<ResolvedScanSource> = {
  section,
  shared: [
    ...Object.keys(placeOptions),
    'firestoreDatabase',
    ...Object.keys(slotOptions),
    ...Object.keys(metricsOptions),
  ],
  resolve(name, value, path, readSchemaFile) {
    const { partial, complete, problems } = readSection(section, value, path) as Reading<ScanSourceOptions>;
    const mapped = readMapping(value, path, readSchemaFile);
    const broken = [...brokenRules(rules, name, partial, value, path), ...(mapped?.problems ?? [])];
    const pipeline = complete && broken.length === 0 ? resolved(complete, mapped?.mapping) : undefined;
    return { pipeline, problems: [...problems, ...broken], warnings: [] };
  },
};

/** The mapping that is to be read backwards, checked for that too. One of another form is a problem already. */
function readMapping(value: unknown, path: Path, readSchemaFile?: ReadSchemaFile): MappingResult | undefined {
  if (!isSection(value) || value.form !== 'mapping' || value.mapping === undefined) return undefined;
  const at = formatPath([...path, 'mapping']);
  const result = resolveMapping(value.mapping, at, readSchemaFile);
  if (!result.mapping) return result;
  const problems = backwardsProblems(result.mapping, at);
  return problems.length === 0 ? result : { problems };
}

function resolved(written: ScanSourceOptions, mapping: ResolvedMapping | undefined): ResolvedScanSource {
  const address = tableOf(written);
  if (!address) throw new TypeError('the rules let a scan pass that has no table');
  const { project, firestoreDatabase } = written;
  return {
    kind: 'scan-source',
    table: address,
    selection: selectionOf(written),
    form: formOf(written, mapping),
    emission: emissionOf(written),
    reading: readingOf(written),
    runs: runsOf(written),
    slots: slotsOf(written),
    firestore: { ...(project !== undefined && { project }), database: firestoreDatabase },
    ...commonOf(written),
  };
}
