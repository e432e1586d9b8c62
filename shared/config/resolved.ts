import type { Resolution } from './kinds/kind.ts';
import type { KINDS } from './kinds.ts';

/**
 * What a function runs by: the configuration after every default, check and unit is dealt with. Plain, deeply readonly
 * and JSON-serializable, so that a bundle can carry it. The types are those of the declarations, under the names that
 * the rest of the connector knows them by. This file imports nothing but types: a cold start that finds a resolved
 * document loads neither zod nor yaml.
 */

export type { ResolvedAccess, ResolvedCommon } from './options/common.ts';
export type { ResolvedDestination } from './options/destination.ts';
export type { DeadLetterPayload, ResolvedDeadLetter, ResolvedFailure } from './options/failure.ts';
export type { ResolvedFraming, ResolvedInput } from './options/input.ts';
export type { ResolvedEmission } from './options/emission.ts';
export type { ResolvedRequestOptions } from './options/requests.ts';
export type { ResolvedPosition, ResolvedStream } from './options/change-stream.ts';
export type { ResolvedRuns, ResolvedScanReading } from './options/scan.ts';
export type { ResolvedScanForm } from './options/scan-form.ts';
export type { ResolvedBound, ResolvedRange, ResolvedSelection, ResolvedWindow } from './options/scan-selection.ts';
export type { ResolvedSlots } from './options/slots.ts';
export type { JsonValue, ResolvedSerializer } from './options/serializer.ts';
export type { ResolvedCommit, ResolvedFirestore, ResolvedMarker, ResolvedStaging } from './options/staging.ts';
export type {
  FamilyType,
  ResolvedFamily,
  ResolvedGcRule,
  ResolvedTableCreateOptions,
} from './options/table-creation.ts';
export type { ResolvedWriterOptions } from './options/writer.ts';
export type { ResolvedSink } from './kinds/sink.ts';

/** Version of the shapes of these types. A document that carries another one is refused. */
export const RESOLVED_VERSION = 2;

export interface ResolvedConfig {
  readonly resolved: typeof RESOLVED_VERSION;
  /** By name, in the order of the document. */
  readonly pipelines: Readonly<Record<string, ResolvedPipeline>>;
}

export type PipelineKind = keyof typeof KINDS;

/** One pipeline, told apart by its `kind`. */
export type ResolvedPipeline = {
  [Name in PipelineKind]: ReturnType<(typeof KINDS)[Name]['resolve']> extends Resolution<infer Pipeline>
    ? Pipeline
    : never;
}[PipelineKind];

/** The pipeline of one kind. */
export type PipelineOf<Name extends PipelineKind> = Extract<ResolvedPipeline, { readonly kind: Name }>;

export type ResolvedBulkSink = PipelineOf<'bulk-sink'>;
export type ResolvedStagedSink = PipelineOf<'staged-sink'>;
export type ResolvedRequestSink = PipelineOf<'request-sink'>;
export type ResolvedScanSource = PipelineOf<'scan-source'>;
export type ResolvedChangeStreamSource = PipelineOf<'change-stream-source'>;

/** Kinds that take records of a subscription. */
export type SinkKind = Exclude<PipelineKind, SourceKind>;
export type SinkPipeline = PipelineOf<SinkKind>;

/** Kinds that read a table. */
export type SourceKind = 'scan-source' | 'change-stream-source';
export type SourcePipeline = PipelineOf<SourceKind>;

export const isSource = (pipeline: ResolvedPipeline): pipeline is SourcePipeline =>
  pipeline.kind === 'scan-source' || pipeline.kind === 'change-stream-source';

export const isSink = (pipeline: ResolvedPipeline): pipeline is SinkPipeline => !isSource(pipeline);

/** A module of a user's own, and the option that names it. */
export interface NamedModule {
  readonly option: 'serializer' | 'form';
  /** Its path, relative to the directory of the configuration. */
  readonly module: string;
}

/** The module that a pipeline runs; undefined where it runs none. */
export function moduleOf(pipeline: ResolvedPipeline): NamedModule | undefined {
  if (pipeline.kind === 'change-stream-source') return undefined;
  const [option, value] = isSink(pipeline)
    ? (['serializer', pipeline.serializer] as const)
    : (['form', pipeline.form] as const);
  return value.kind === 'module' ? { option, module: value.module } : undefined;
}

/** The pipeline with its module at another path. */
export function withModule(pipeline: ResolvedPipeline, module: string): ResolvedPipeline {
  const named = moduleOf(pipeline);
  if (!named || pipeline.kind === 'change-stream-source') return pipeline;
  const { option } = named;
  const section: object = isSink(pipeline) ? pipeline.serializer : pipeline.form;
  return { ...pipeline, [option]: { ...section, module } };
}
