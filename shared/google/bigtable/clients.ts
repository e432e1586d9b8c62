import { lazy } from '../../base/lazy.ts';
import type { Clock } from '../../base/clock.ts';
import type { Metrics } from '../../base/metrics.ts';
import type { TableName } from '../../model/table-name.ts';
import { type BigtableAccess, DATA_SERVICE, openAccess } from './credentials.ts';
import { ChannelSet } from './channel.ts';

export interface ClientPoolOptions extends BigtableAccess {
  /** Clients held at once, one per (project, instance); a new one beyond it closes the least recently used. */
  readonly maxActiveInstances: number;
  /** A client that nothing used for longer is closed at the next sweep. */
  readonly destinationIdleTimeoutMillis: number;
}

interface Held {
  readonly channels: ChannelSet;
  lastUsed: number;
  users: number;
}

/**
 * One client per (project, instance) of the process, made at first need. A client in use is never closed: at the cap,
 * a request for another instance waits until some client is idle. Requests are served in the order they came.
 */
export class ClientPool {
  readonly #options: ClientPoolOptions;
  readonly #clock: Clock;
  readonly #metrics: Metrics;
  readonly #access: () => ReturnType<typeof openAccess>;
  /** Insertion order is recency: every use takes the client out and puts it back at the end. */
  readonly #held = new Map<string, Held>();
  readonly #waiting: (() => void)[] = [];

  constructor(options: ClientPoolOptions, clock: Clock, metrics: Metrics) {
    this.#options = options;
    this.#clock = clock;
    this.#metrics = metrics;
    this.#access = lazy(() => openAccess(options, DATA_SERVICE));
    metrics.observe('activeClients', () => this.#held.size);
  }

  /** Runs `use` with the client of the table's instance. Rejects if none can be made, or none is free before `signal` aborts. */
  async use<Result>(
    table: Pick<TableName, 'project' | 'instance'>,
    signal: AbortSignal,
    use: (channels: ChannelSet) => Promise<Result>,
  ): Promise<Result> {
    const access = await this.#access();
    const key = `${table.project}/${table.instance}`;
    await this.#room(key, signal);
    const held = this.#held.get(key) ?? {
      channels: new ChannelSet(access.address, access.credentials),
      lastUsed: 0,
      users: 0,
    };
    this.#touch(key, held);
    held.users += 1;
    try {
      return await use(held.channels);
    } finally {
      held.users -= 1;
      held.lastUsed = this.#clock.now();
      if (held.users === 0) this.#waiting.shift()?.();
    }
  }

  /** Closes clients that were idle for longer than the timeout. Called at the end of invocations; never waits. */
  sweep(): void {
    const now = this.#clock.now();
    for (const [key, held] of this.#held) {
      if (held.users > 0 || now - held.lastUsed <= this.#options.destinationIdleTimeoutMillis) continue;
      this.#close(key, held);
      this.#metrics.count('idleEvictions');
    }
  }

  close(): void {
    for (const [key, held] of this.#held) this.#close(key, held);
  }

  /** Waits until the client exists or another one fits, evicting the least recently used idle one. */
  async #room(key: string, signal: AbortSignal): Promise<void> {
    while (!this.#held.has(key) && this.#held.size >= this.#options.maxActiveInstances) {
      const idle = [...this.#held].find(([, held]) => held.users === 0);
      if (idle) {
        this.#close(...idle);
        this.#metrics.count('capacityEvictions');
      } else {
        await this.#someClientIdle(signal);
      }
    }
  }

  #someClientIdle(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const wake = (): void => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      const onAbort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(wake), 1);
        reject(
          new Error(
            `maxActiveInstances: all ${this.#options.maxActiveInstances} Bigtable clients stayed busy; raise it or write to fewer instances`,
            { cause: signal.reason },
          ),
        );
      };
      if (signal.aborted) {
        onAbort();
        return;
      }
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.push(wake);
    });
  }

  #touch(key: string, held: Held): void {
    this.#held.delete(key);
    this.#held.set(key, held);
  }

  #close(key: string, held: Held): void {
    this.#held.delete(key);
    held.channels.close();
  }
}
