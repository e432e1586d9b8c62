import type { Clock } from '../../shared/base/clock.ts';
import type { ChangeStreamStatusStore } from '../../shared/change-stream/ports.ts';
import type { ResolvedFirestore } from '../../shared/config/resolved.ts';
import type { Publisher } from '../../shared/model/publishing.ts';
import type { RunsStore } from '../../shared/scan/runs/ports.ts';
import type { StatusStore } from '../../shared/staged/ports.ts';
import type { Ending } from './interruption.ts';

/** What the commands need of the machine and of Pub/Sub. */
export interface CliContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly terminal: Terminal;
  readonly input: InputFiles;
  readonly pubsub: PubSubPort;
  readonly store: StorePort;
  readonly clock: Clock;
  /** Aborts at the first Ctrl-C or SIGTERM: commands begin nothing more, settle what is on its way and report. */
  readonly signal: AbortSignal;
  /** How long they may take for that. */
  readonly ending: Ending;
}

export interface Terminal {
  /** Results, to standard output, with a line end. */
  print(text: string): void;
  /** Everything that is not a result, to standard error, with a line end. */
  note(text: string): void;
  /** Replaces the line that shows how far the work is, and asks for it only when it is due; nothing where nobody watches. */
  status(line: string | (() => string)): void;
}

export interface InputFiles {
  /** Bytes of a file, for a remaining-time estimate. Rejects where it cannot be read. */
  size(path: string): Promise<number>;
  read(path: string): AsyncIterable<Buffer>;
  readonly stdin: AsyncIterable<Buffer>;
}

export interface PubSubPort {
  /** `topic` is a full name. */
  publisher(topic: string, options: { readonly isOrdered: boolean }): Promise<Publisher>;
  /** `subscription` is a full name. */
  puller(subscription: string): Promise<Puller>;
}

export interface PulledMessage {
  readonly ackId: string;
  readonly messageId: string;
  readonly data: Buffer;
  readonly attributes: Readonly<Record<string, string>>;
}

export interface Puller {
  /**
   * Up to `maxMessages`; empty where none came within `waitMillis`. What it returns stays leased until it is
   * acknowledged or released, and for a short lease more where the process ends without. Rejects with the reason of
   * `signal` soon after that aborts; messages that come at that very moment are still returned.
   */
  pull(maxMessages: number, waitMillis: number, signal: AbortSignal): Promise<readonly PulledMessage[]>;
  /** Rejects with the reason of `signal` as soon as that aborts; the messages may be acknowledged all the same. */
  acknowledge(ackIds: readonly string[], signal: AbortSignal): Promise<void>;
  /** Ends the leases, so that whoever pulls next gets the messages. `signal` as for `acknowledge`. */
  release(ackIds: readonly string[], signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export interface StorePort {
  /** Connects at its first use. */
  database(name: ResolvedFirestore): DatabasePort;
}

/** What people may ask of the pipelines in one database. */
export interface DatabasePort {
  stage(pipeline: string): { readonly status: StatusStore };
  scan(pipeline: string): { readonly runs: RunsStore };
  changeStream(pipeline: string): { readonly status: ChangeStreamStatusStore };
  close(): Promise<void>;
}
