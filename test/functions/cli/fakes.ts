import type { CliContext, PulledMessage } from '../../../functions/cli/ports.ts';
import { runCli } from '../../../functions/cli/cli.ts';
import type { ExitCode } from '../../../functions/cli/errors.ts';
import type { ChangeStreamStatusStore } from '../../../shared/change-stream/ports.ts';
import type { OutgoingMessage } from '../../../shared/model/publishing.ts';
import type { RunsStore } from '../../../shared/scan/runs/ports.ts';
import type { StatusStore } from '../../../shared/staged/ports.ts';

/** A Pub/Sub that confirms what `refuse` lets pass, and holds letters under leases. */
export class FakePubSub {
  readonly published: (OutgoingMessage & { readonly topic: string })[] = [];
  readonly acknowledged: string[] = [];
  readonly openPublishers = new Set<string>();
  /** What happened, in order: a letter must be acknowledged after its publish. */
  readonly events: string[] = [];
  letters: PulledMessage[] = [];
  leased = new Map<string, PulledMessage>();
  largestPull = 0;
  refuse: (message: OutgoingMessage) => Error | undefined = () => undefined;

  readonly port: CliContext['pubsub'] = {
    publisher: (topic) => {
      this.openPublishers.add(topic);
      return Promise.resolve({
        publish: async (message) => {
          await Promise.resolve();
          const refusal = this.refuse(message);
          if (refusal) throw refusal;
          this.published.push({ topic, ...message });
          this.events.push(`published ${message.data.toString()}`);
        },
        close: () => {
          this.openPublishers.delete(topic);
          return Promise.resolve();
        },
      });
    },
    puller: () =>
      Promise.resolve({
        pull: (maxMessages) => {
          this.largestPull = Math.max(this.largestPull, maxMessages);
          const pulled = this.letters.splice(0, maxMessages);
          for (const letter of pulled) this.leased.set(letter.ackId, letter);
          return Promise.resolve(pulled);
        },
        acknowledge: (ackIds) => {
          for (const ackId of ackIds) {
            this.events.push(`acknowledged ${this.leased.get(ackId)?.data.toString() ?? '?'}`);
            this.leased.delete(ackId);
            this.acknowledged.push(ackId);
          }
          return Promise.resolve();
        },
        release: (ackIds) => {
          for (const ackId of ackIds) {
            const letter = this.leased.get(ackId);
            if (letter) this.letters.push(letter);
            this.leased.delete(ackId);
          }
          return Promise.resolve();
        },
        close: () => Promise.resolve(),
      }),
  };
}

/** An error as the client rejects with: a status code beside the message. */
export const statusError = (code: number, message: string): Error => Object.assign(new Error(message), { code });

async function* chunksOf(text: string): AsyncGenerator<Buffer> {
  await Promise.resolve();
  yield Buffer.from(text);
}

interface Run {
  readonly code: ExitCode;
  readonly out: string;
  readonly err: string;
}

const noStore = (): never => {
  throw new Error('this test has no Firestore');
};

/** Runs a command with files in memory; time moves only when the command waits. */
export async function run(
  argv: readonly string[],
  given: {
    readonly config: string;
    readonly pubsub?: FakePubSub;
    /** The staged work of a pipeline; without it there is no Firestore. */
    readonly stage?: (pipeline: string) => { readonly status: StatusStore };
    /** The runs of a scanned pipeline; without them there are none. */
    readonly scan?: (pipeline: string) => { readonly runs: RunsStore };
    /** The source of a change stream; without it there is none. */
    readonly changeStream?: (pipeline: string) => { readonly status: ChangeStreamStatusStore };
    readonly files?: Readonly<Record<string, string>>;
    readonly stdin?: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly signal?: AbortSignal;
    readonly waits?: number[];
    /** When the command begins, milliseconds since the epoch. */
    readonly now?: number;
  },
): Promise<Run> {
  const out: string[] = [];
  const err: string[] = [];
  const fileText = (path: string): string => {
    const text = given.files?.[path];
    if (text === undefined) throw Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT', syscall: 'open' });
    return text;
  };
  let now = given.now ?? Date.UTC(2026, 0, 1);
  const code = await runCli(argv, {
    env: { CONNECTOR_CONFIG: given.config, ...given.env },
    terminal: {
      print: (text) => out.push(text),
      note: (text) => err.push(text),
      status: () => undefined,
    },
    input: {
      size: async (path) => Promise.resolve(fileText(path).length),
      read: (path) => chunksOf(fileText(path)),
      stdin: chunksOf(given.stdin ?? ''),
    },
    pubsub: (given.pubsub ?? new FakePubSub()).port,
    store: {
      database: () => ({
        stage: given.stage ?? noStore,
        scan: given.scan ?? noStore,
        changeStream: given.changeStream ?? noStore,
        close: () => Promise.resolve(),
      }),
    },
    clock: {
      now: () => now,
      monotonic: () => now,
      after: (delayMillis, callback) => {
        given.waits?.push(delayMillis);
        now += delayMillis;
        // After what is ready now, as a timer is.
        setImmediate(callback);
        return () => undefined;
      },
      soon: (callback) => {
        queueMicrotask(callback);
      },
    },
    signal: given.signal ?? new AbortController().signal,
  });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

/** A configuration with one pipeline, `orders`, of these options. */
export const configOf = (options: Readonly<Record<string, unknown>> = {}): string =>
  JSON.stringify({
    defaults: { project: 'p', instance: 'i' },
    pipelines: { orders: { kind: 'bulk-sink', topic: 'orders', table: 't', serializer: 'entry', ...options } },
  });
