import { toError } from '../../base/errors.ts';
import type { Bound, RowRange } from '../../model/row-range.ts';
import type { Status } from '../../model/status.ts';
import { tablePath } from '../../model/table-name.ts';
import { ReadRowsRequest } from '../../proto/google/bigtable/v2/bigtable.ts';
import type { RowRange as WireRange } from '../../proto/google/bigtable/v2/data.ts';
import type { ReadRows, ReadRowsCall, RowMessage, RowMessages } from '../../scan/ports.ts';
import { CallError, type MessageStream } from '../grpc/message-stream.ts';
import { dataMethod, TableMetadata } from './call.ts';
import type { ClientPool, HeldClient } from './clients.ts';
import { endingDetails } from './error-details.ts';

const METHOD = dataMethod('ReadRows');

/** `ReadRows` of one range over a raw gRPC channel, at the pace of its reader. Nothing is retried. */
export function createReadRows(pool: ClientPool): ReadRows {
  const metadata = new TableMetadata('scan-progress');
  return (call) => new PooledMessages(pool, metadata, call);
}

/** Holds a client from its first message to its end. */
class PooledMessages implements RowMessages {
  readonly #pool: ClientPool;
  readonly #metadata: TableMetadata;
  readonly #call: ReadRowsCall;
  #client: HeldClient | undefined;
  #stream: MessageStream | undefined;
  #end: RowMessage | undefined;

  constructor(pool: ClientPool, metadata: TableMetadata, call: ReadRowsCall) {
    this.#pool = pool;
    this.#metadata = metadata;
    this.#call = call;
  }

  async next(): Promise<RowMessage> {
    if (this.#end) return this.#end;
    try {
      const stream = this.#stream ?? (await this.#open());
      if (!this.#isOver()) {
        const { done, value } = await stream.next();
        // A call that was closed meanwhile looks finished, and is not.
        if (!this.#isOver()) return done ? this.#finish({ kind: 'finished' }) : { kind: 'message', message: value };
      }
    } catch (error) {
      if (!this.#isOver()) return this.#finish(failureOf(error, this.#call.signals));
    }
    this.#release();
    return CLOSED;
  }

  async close(isSilent = false): Promise<void> {
    const stream = this.#stream;
    this.#end ??= CLOSED;
    if (stream) await (isSilent ? stream.abandon() : stream.return());
    this.#release();
  }

  /** Asked anew after every wait: `close` may have come meanwhile. */
  #isOver(): boolean {
    return this.#end !== undefined;
  }

  async #open(): Promise<MessageStream> {
    const { table, appProfileId, signals } = this.#call;
    this.#client = this.#pool.hold(table) ?? (await this.#pool.wait(table, AbortSignal.any([...signals])));
    this.#stream = this.#client.channels.stream(
      {
        method: METHOD,
        request: encodeReadRows(this.#call),
        metadata: this.#metadata.of(table, appProfileId),
        // A scan of a tablet takes as long as its reader does: it is ended by signals, and by silence.
        deadline: Infinity,
      },
      signals,
    );
    return this.#stream;
  }

  #finish(end: RowMessage): RowMessage {
    this.#end = end;
    this.#release();
    return end;
  }

  #release(): void {
    if (this.#client) this.#pool.release(this.#client);
    this.#client = undefined;
  }
}

const CLOSED: RowMessage = { kind: 'failed', status: { code: 'CANCELLED', message: 'the read was closed' } };

function failureOf(error: unknown, signals: readonly AbortSignal[]): RowMessage {
  if (error instanceof CallError) {
    return { kind: 'failed', status: error.status, ...endingDetails(error.details) };
  }
  // No client was free in time, or no call could be made: nothing was read.
  const code: Status['code'] = signals.some(({ aborted }) => aborted) ? 'CANCELLED' : 'UNAVAILABLE';
  return { kind: 'failed', status: { code, message: toError(error).message } };
}

/** The field of {@link ReadRowsRequest} that holds the filter, whose bytes are there already. */
const FILTER_FIELD = (3 << 3) | 2;

/** The request for one range, which is always there: one without ranges would be for the whole table. */
export function encodeReadRows({ table, appProfileId, range, filter }: ReadRowsCall): Buffer {
  const writer = ReadRowsRequest.encode({
    ...ReadRowsRequest.decode(Buffer.alloc(0)),
    tableName: tablePath(table),
    appProfileId,
    rows: { rowKeys: [], rowRanges: [wireRange(range)] },
  });
  if (filter) writer.uint32(FILTER_FIELD).bytes(filter);
  const request = writer.finish();
  return Buffer.from(request.buffer, request.byteOffset, request.byteLength);
}

/** No bound is an empty key on the wire, said outright. */
const wireRange = ({ start, end }: RowRange): WireRange => ({
  startKey: { $case: start.kind === 'open' ? 'startKeyOpen' : 'startKeyClosed', value: keyOf(start) },
  endKey: { $case: end.kind === 'closed' ? 'endKeyClosed' : 'endKeyOpen', value: keyOf(end) },
});

const keyOf = (bound: Bound): Buffer => (bound.kind === 'unbounded' ? NO_KEY : bound.key);
const NO_KEY = Buffer.alloc(0);
