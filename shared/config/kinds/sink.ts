import * as z from 'zod';
import type { ConfigProblem } from '../../base/errors.ts';
import { pipelineProblems, type PipelineOfMapping } from '../../mapping/declared/compatibility.ts';
import { resolveMapping, type MappingResult } from '../../mapping/declared/resolve.ts';
import type { ReadSchemaFile } from '../../mapping/declared/resolve-format.ts';
import type { ResolvedMapping } from '../../mapping/declared/resolved.ts';
import { declare, type Output } from '../option.ts';
import {
  commonOf,
  type CommonOptions,
  emulatorTakesNoKey,
  metricsOptions,
  placeOptions,
  type ResolvedCommon,
} from '../options/common.ts';
import {
  destinationOf,
  destinationOptions,
  type DestinationOptions,
  destinationRules,
  type ResolvedDestination,
} from '../options/destination.ts';
import { deadLettersDoNotComeBack, type FailureOptions } from '../options/failure.ts';
import {
  deliveryOptions,
  inputOf,
  type InputOptions,
  inputRules,
  type ResolvedInput,
  subscriptionOptions,
} from '../options/input.ts';
import { replayRules } from '../options/replay.ts';
import { hasOneWayToSerialize, type SerializerOptions } from '../options/serializer.ts';
import { formatPath, type Path } from '../problems.ts';
import { isSection, type Readable, type Reading, readSection } from '../read.ts';
import { brokenRules, type Rule } from '../rules.ts';
import type { Kind } from './kind.ts';

/** What every sink runs by. */
export interface ResolvedSink extends ResolvedCommon {
  readonly input: ResolvedInput;
  readonly destination: ResolvedDestination;
}

/** Options that every sink has; what its serializer, mapping and dead letters may be is each kind's own. */
type SinkOptions = CommonOptions & InputOptions & DestinationOptions & SerializerOptions & FailureOptions;

type OptionsOf<Shape extends z.ZodRawShape> = SinkOptions & Output<Shape>;

/** What a kind of sink adds to what every sink has. */
interface SinkDeclaration<Name extends string, Shape extends z.ZodRawShape, Own extends object> {
  readonly kind: Name;
  readonly options: Shape;
  /** Those of its options that the document's `defaults` may set. */
  readonly shared: readonly (keyof Shape & string)[];
  readonly rules: readonly Rule<OptionsOf<Shape>>[];
  readonly warnings?: (options: Readable<OptionsOf<Shape>>, path: Path) => readonly string[];
  /** What of its options a mapping is held against. */
  readonly mappingTerms?: (options: Readable<OptionsOf<Shape>>) => MappingTerms;
  /** From options that keep every rule to what functions run by. Pure. */
  readonly resolve: (options: OptionsOf<Shape>, name: string, mapping: ResolvedMapping | undefined) => Own;
}

type MappingTerms = Pick<PipelineOfMapping, 'markerFamily' | 'isReplayProtected'>;

const sinkRules: readonly Rule<SinkOptions>[] = [
  hasOneWayToSerialize,
  ...destinationRules,
  emulatorTakesNoKey,
  deadLettersDoNotComeBack,
  ...replayRules,
  ...inputRules,
];

/** A kind of sink: its options, and how a section of them becomes a pipeline. */
export function sinkKind<const Name extends PipelineOfMapping['kind'], Shape extends z.ZodRawShape, Own extends object>(
  declared: SinkDeclaration<Name, Shape, Own>,
): Kind<{ readonly kind: Name } & ResolvedSink & Readonly<Own>> {
  const { kind, rules, warnings = () => [], mappingTerms = () => ({}) } = declared;
  const section: z.ZodObject = z.strictObject({
    kind: declare(z.literal(kind), 'The kind of pipeline.', {
      type: 'choice',
      bounds: `"${kind}"`,
      isRequired: true,
    }),
    ...subscriptionOptions,
    ...placeOptions,
    ...destinationOptions,
    ...declared.options,
    ...deliveryOptions,
    ...metricsOptions,
  });
  return {
    section,
    shared: [
      ...Object.keys(placeOptions),
      ...declared.shared,
      ...Object.keys({ ...deliveryOptions, ...metricsOptions }),
    ],
    resolve(name, value, path, readSchemaFile) {
      const { partial, complete, problems } = readSection(section, value, path) as Reading<OptionsOf<Shape>>;
      const terms = { kind, ...mappingTerms(partial) };
      const mapped = readMapping({ section, value, path, readSchemaFile, terms });
      const broken: ConfigProblem[] = [
        ...brokenRules([...sinkRules, ...rules], name, partial, value, path),
        ...(mapped?.problems ?? []),
      ];
      const pipeline =
        complete && broken.length === 0
          ? { kind, ...sinkOf(name, complete), ...declared.resolve(complete, name, mapped?.mapping) }
          : undefined;
      return { pipeline, problems: [...problems, ...broken], warnings: warnings(partial, path) };
    },
  };
}

const sinkOf = (name: string, options: SinkOptions): ResolvedSink => ({
  input: inputOf(name, options),
  destination: destinationOf(options),
  ...commonOf(options),
});

interface WrittenMapping {
  readonly section: z.ZodObject;
  /** The pipeline as written, over the defaults. */
  readonly value: unknown;
  readonly path: Path;
  readonly readSchemaFile: ReadSchemaFile | undefined;
  readonly terms: MappingTerms & Pick<PipelineOfMapping, 'kind'>;
}

/**
 * Reads the mapping of a sink, if it has one, and holds it against the sink's other options. Options that the kind does
 * not have are problems already.
 */
function readMapping({ section, value, path, readSchemaFile, terms }: WrittenMapping): MappingResult | undefined {
  if (!isSection(value) || value.mapping === undefined) return undefined;
  const result = resolveMapping(value.mapping, formatPath([...path, 'mapping']), readSchemaFile);
  if (!result.mapping) return result;
  const written = Object.fromEntries(Object.entries(value).filter(([key]) => Object.hasOwn(section.shape, key)));
  const problems = pipelineProblems({ ...terms, mapping: result.mapping, written, path: formatPath(path) });
  return problems.length === 0 ? result : { problems };
}
