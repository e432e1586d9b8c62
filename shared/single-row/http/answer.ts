import type { Runtime } from '../../base/runtime.ts';
import type { ResolvedDestination } from '../../config/resolved.ts';
import { identityOfId } from '../../model/identity.ts';
import { familiesOfRequest, type RowRequestDocument } from '../../model/row-request.ts';
import { rowOutcome } from '../../model/row-result.ts';
import { formatTableName, parseNamedTable, type TableName } from '../../model/table-name.ts';
import { CONTENT_TYPES, decodeRowRequest, encodeRowResult, formOf } from '../forms/documents.ts';
import { RowRequestError } from '../forms/problems.ts';
import type { ReplayProtection } from '../delivery.ts';
import type { Answered, Outcome } from '../outcome.ts';
import type { RowExecutor } from '../ports.ts';
import {
  failureAnswer,
  failureOf,
  failureOfError,
  type HttpAnswer,
  type HttpFailure,
  reportFailure,
  unsent,
} from './failure.ts';

/** A row request as it came over HTTP. */
export interface HttpRequest {
  readonly method: string;
  readonly contentType?: string;
  readonly accept?: string;
  readonly body: Buffer;
  /** Names it in the answer, in the log, and, where it names no correlation id, in the result. */
  readonly requestId: string;
  /** Aborts when its time is used up or its caller has left; the RPC is cancelled then. */
  readonly signal: AbortSignal;
}

/** Everything a request needs; made once per instance by the wiring. */
export interface RowService {
  /** The pipeline's name, which is part of what a marker identifies. */
  readonly pipeline: string;
  readonly executor: RowExecutor;
  readonly destination: ResolvedDestination;
  /** Whether a caller may name the table. The pipeline's own needs no name. */
  readonly mayName: (table: TableName) => boolean;
  readonly emptyBranchPolicy: 'ignore' | 'fail';
  /** Every request carries a marker, known by its correlation id. Absent: a replay is a second request. */
  readonly protection?: ReplayProtection;
  readonly runtime: Runtime;
}

/** Largest body in bytes: what Pub/Sub would take too, so that one request works either way. */
export const MAX_BODY_BYTES = 10_000_000;

/**
 * One request to its answer: read → table → execute → result. Always resolves; whatever goes wrong is an answer that says
 * whether the request may have been applied.
 */
export async function answerHttp(request: HttpRequest, service: RowService): Promise<HttpAnswer> {
  let ending: Result | HttpFailure;
  try {
    ending = await resultOf(request, service);
  } catch (error) {
    ending = failureOfError(error);
  }
  const answer = 'result' in ending ? resultAnswer(ending.result, request) : failureAnswer(ending, request);
  const { metrics, logger } = service.runtime;
  metrics.count('httpAnswers', 1, String(answer.status));
  if (!('result' in ending)) reportFailure(ending, request, logger);
  return answer;
}

interface Result {
  readonly result: Parameters<typeof encodeRowResult>[0];
}

async function resultOf(request: HttpRequest, service: RowService): Promise<Result | HttpFailure> {
  const refusal = refusalOf(request);
  if (refusal) return refusal;
  const document = decodeRowRequest(request.body, request.contentType);
  const table = tableOf(document, service.destination);
  if (document.table !== undefined && !service.mayName(table)) return notAllowed(table);
  const outcome = await execute(document, table, service, request.signal);
  if (outcome.kind !== 'answered') return failureOf(outcome);
  if (outcome.isEmptyBranch && service.emptyBranchPolicy === 'fail') return emptyBranch(table);
  return { result: rowResult(outcome, { document, table, requestId: request.requestId }) };
}

function refusalOf({ method, body }: HttpRequest): HttpFailure | undefined {
  if (method !== 'POST') return unsent(405, 'method-not-allowed', `must be POST, got ${method}`);
  if (body.length <= MAX_BODY_BYTES) return undefined;
  return unsent(413, 'too-large', `the body must be at most ${MAX_BODY_BYTES} bytes, got ${body.length}`);
}

/** What the request names, as far as it can be read there, else the pipeline's own table. */
function tableOf({ table: named }: RowRequestDocument, { table, home }: ResolvedDestination): TableName {
  const target = named === undefined ? table : parseNamedTable(named, home);
  if (target) return target;
  throw new RowRequestError([{ path: 'table', message: named === undefined ? NO_TABLE : elsewhereRule(home) }]);
}

const NO_TABLE = 'is required, for the pipeline names no table';

/** A text with dots may be the id of a table as well as an address. */
const elsewhereRule = (home: ResolvedDestination['home']): string =>
  home
    ? `must be the id of a table of ${home.project}.${home.instance}, or projects/…/instances/…/tables/… of one elsewhere, got another text`
    : 'must be project.instance.table or projects/…/instances/…/tables/…, for the pipeline names no instance, got another text';

/** Markers are looked to before the request: one that is lost would let a replay through. */
async function execute(
  document: RowRequestDocument,
  table: TableName,
  { executor, protection, pipeline }: RowService,
  signal: AbortSignal,
): Promise<Outcome> {
  const { request } = document;
  if (!protection) return executor.execute(table, request, { signal, wait: false });
  const identity = identityOfId(pipeline, namedBy(document));
  const unfit = await protection.check(table, familiesOfRequest(request), signal);
  if (unfit) return { kind: 'fatal', reason: unfit.reason, message: unfit.message };
  return executor.execute(table, request, {
    signal,
    wait: false,
    marker: { family: protection.markerFamily, identity },
  });
}

/** A caller that sends a request again names it again; by anything else a replay cannot be known. */
function namedBy({ correlationId }: RowRequestDocument): string {
  if (correlationId !== undefined) return correlationId;
  const message = 'is required, for replayProtection knows a request that is sent again by it';
  throw new RowRequestError([{ path: 'correlationId', message }]);
}

const notAllowed = (table: TableName): HttpFailure =>
  unsent(
    403,
    'table-not-allowed',
    `${formatTableName(table)} is no table of the pipeline's instance that its records may name; nothing was sent`,
  );

const emptyBranch = (table: TableName): HttpFailure =>
  unsent(
    409,
    'empty-branch',
    `the conditional request on ${formatTableName(table)} selected a branch without mutations, and emptyBranchPolicy is fail; nothing was changed`,
  );

interface Asked {
  readonly document: RowRequestDocument;
  readonly table: TableName;
  readonly requestId: string;
}

const rowResult = (
  { answer, replayed, mayBeReplayed }: Answered,
  { document: { request, correlationId }, table, requestId }: Asked,
): Result['result'] => ({
  correlationId: correlationId ?? requestId,
  table,
  rowKey: request.request.rowKey,
  outcome: rowOutcome(request, answer),
  ...(replayed && { replayed }),
  ...(mayBeReplayed && { mayBeReplayed }),
});

function resultAnswer(result: Result['result'], { accept, requestId }: HttpRequest): HttpAnswer {
  const form = formOf(accept);
  return {
    status: 200,
    headers: { 'content-type': CONTENT_TYPES[form], 'x-request-id': requestId },
    body: encodeRowResult(result, form),
  };
}
