import { lazy } from '../../base/lazy.ts';
import { onAbort } from '../../base/abort.ts';
import { abortReason } from '../../base/clock.ts';
import { Line } from '../../base/line.ts';
import type { Runtime } from '../../base/runtime.ts';
import type { TableName } from '../../model/table-name.ts';
import { openAccess } from '../grpc/access.ts';
import { type BigtableAccess, DATA_SERVICE } from './services.ts';
import { ChannelSet } from '../grpc/channel.ts';

export interface ClientPoolOptions extends BigtableAccess {
  /** Clients held at once, one per (project, instance); a new one beyond it closes the least recently used. */
  readonly maxActiveInstances: number;
  /** A client that nothing used for longer is closed at the next sweep. */
  readonly destinationIdleTimeoutMillis: number;
}

/** A client in use. */
export interface HeldClient {
  readonly channels: ChannelSet;
}

interface Held extends HeldClient {
  lastUsed: number;
  users: number;
}

interface Waiter {
  readonly key: string;
  readonly serve: (held: Held) => void;
  readonly refuse: (error: Error) => void;
}

/**
 * One client per (project, instance) of the process, made at first need. A client in use is never closed: at the cap,
 * a request for another instance waits until some client is idle. Requests are served strictly in the order they came,
 * those for an open client included: otherwise steady traffic to one instance would keep its client busy forever.
 */
export class ClientPool {
  readonly #options: ClientPoolOptions;
  readonly #runtime: Runtime;
  readonly #access: () => Promise<Access>;
  /** Insertion order is recency: every use takes the client out and puts it back at the end. */
  readonly #held = new Map<string, Held>();
  /** The last of them, which need not be moved to the end. */
  #latest: Held | undefined;
  readonly #waiting = new Line<Waiter>();
  #opened: Access | undefined;
  #isClosed = false;

  constructor(options: ClientPoolOptions, runtime: Runtime) {
    this.#options = options;
    this.#runtime = runtime;
    this.#access = lazy(() => openAccess(options, DATA_SERVICE));
    runtime.metrics.observe('activeClients', () => this.#held.size);
  }

  /**
   * Runs `use` with the client of the table's instance. Rejects if none can be made, or none is free before the signal
   * aborts.
   */
  async use<Result>(
    table: Pick<TableName, 'project' | 'instance'>,
    patience: AbortSignal,
    use: (channels: ChannelSet) => Promise<Result>,
  ): Promise<Result> {
    if (patience.aborted) throw abortReason(patience);
    const client = this.hold(table) ?? (await this.wait(table, patience));
    try {
      return await use(client.channels);
    } finally {
      this.release(client);
    }
  }

  /**
   * The client of the table's instance when it may be used now, as nearly always; undefined when there is something to
   * wait for. It must be released exactly once.
   */
  hold({ project, instance }: Pick<TableName, 'project' | 'instance'>): HeldClient | undefined {
    const access = this.#opened;
    if (!access || this.#isClosed || this.#waiting.length > 0) return undefined;
    return this.#take(`${project}/${instance}`, access);
  }

  /** The same as {@link hold}, once one is free. Rejects if none can be made, or none is free before the signal aborts. */
  async wait(
    { project, instance }: Pick<TableName, 'project' | 'instance'>,
    patience: AbortSignal,
  ): Promise<HeldClient> {
    const access = (this.#opened ??= await this.#access());
    return this.#admit(`${project}/${instance}`, access, patience);
  }

  /** Ends one use of the client. */
  release(client: HeldClient): void {
    const held = client as Held;
    held.users -= 1;
    held.lastUsed = this.#runtime.clock.now();
    if (this.#opened) this.#serveWaiting(this.#opened);
  }

  /** Closes clients that were idle for longer than the timeout. Called at the end of invocations; never waits. */
  sweep(): void {
    const now = this.#runtime.clock.now();
    for (const [key, held] of this.#held) {
      if (held.users > 0 || now - held.lastUsed <= this.#options.destinationIdleTimeoutMillis) continue;
      this.#close(key, held);
      this.#runtime.metrics.count('idleEvictions');
    }
  }

  /** Closes every client, those in use included, and refuses who waits or comes later. */
  close(): void {
    this.#isClosed = true;
    for (const [key, held] of this.#held) this.#close(key, held);
    for (let next = this.#waiting.take(); next; next = this.#waiting.take()) next.refuse(poolClosed());
  }

  /** The client, counted as used from here on. */
  #admit(key: string, access: Access, patience: AbortSignal): Promise<Held> {
    if (this.#isClosed) return Promise.reject(poolClosed());
    if (patience.aborted) return Promise.reject(abortReason(patience));
    const held = this.#waiting.length === 0 ? this.#take(key, access) : undefined;
    return held ? Promise.resolve(held) : this.#wait(key, access, patience);
  }

  #wait(key: string, access: Access, signal: AbortSignal): Promise<Held> {
    return new Promise((resolve, reject) => {
      const leave = this.#waiting.join({
        key,
        serve: (held) => {
          forget();
          resolve(held);
        },
        refuse: (error) => {
          forget();
          reject(error);
        },
      });
      const forget = onAbort(signal, () => {
        leave();
        reject(this.#allBusy(signal));
        // What it kept waiting may need no more than what is there.
        this.#serveWaiting(access);
      });
    });
  }

  #serveWaiting(access: Access): void {
    for (let next = this.#waiting.head; next; next = this.#waiting.head) {
      const held = this.#take(next.key, access);
      if (!held) return;
      this.#waiting.take();
      next.serve(held);
    }
  }

  /**
   * The client if it is there or there is room for it, evicting the idle one that was used least recently; undefined
   * when all are in use. Takes it at once: between a look and a take nobody else may come.
   */
  #take(key: string, access: Access): Held | undefined {
    let held = this.#held.get(key);
    if (!held) {
      if (!this.#makeRoom()) return undefined;
      held = { channels: new ChannelSet(access.address, access.credentials), lastUsed: 0, users: 0 };
    }
    if (held !== this.#latest) {
      this.#held.delete(key);
      this.#held.set(key, held);
      this.#latest = held;
    }
    held.users += 1;
    return held;
  }

  #makeRoom(): boolean {
    if (this.#held.size < this.#options.maxActiveInstances) return true;
    const idle = [...this.#held].find(([, held]) => held.users === 0);
    if (!idle) return false;
    this.#close(...idle);
    this.#runtime.metrics.count('capacityEvictions');
    return true;
  }

  #close(key: string, held: Held): void {
    if (this.#latest === held) this.#latest = undefined;
    this.#held.delete(key);
    held.channels.close();
  }

  #allBusy(signal: AbortSignal): Error {
    return new Error(
      `maxActiveInstances: all ${this.#options.maxActiveInstances} Bigtable clients stayed busy; raise it or write to fewer instances`,
      { cause: signal.reason },
    );
  }
}

type Access = Awaited<ReturnType<typeof openAccess>>;

const poolClosed = (): Error => new Error('the Bigtable clients are closed: this instance is shutting down');
