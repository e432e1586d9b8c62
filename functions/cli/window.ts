/**
 * Keeps at most so many publishes, and so many of their bytes, on their way: a producer that waits for {@link start}
 * is held back by the slowest confirmation, and memory stays bounded. Admission tests "below the caps", so one message
 * of any size still moves. One producer at a time.
 */
export class Window {
  readonly #maxTasks: number;
  readonly #maxBytes: number;
  readonly #running = new Set<Promise<void>>();
  #bytes = 0;
  /** Lets the producer look again. */
  #wake: () => void = () => undefined;

  constructor(maxTasks: number, maxBytes: number) {
    this.#maxTasks = maxTasks;
    this.#maxBytes = maxBytes;
  }

  /** Starts `task` once there is room for it. The task must not reject: it keeps its own account of failure. */
  async start(bytes: number, task: () => Promise<void>): Promise<void> {
    while (this.#running.size >= this.#maxTasks || this.#bytes >= this.#maxBytes) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#bytes += bytes;
    const running = task().finally(() => {
      this.#bytes -= bytes;
      this.#running.delete(running);
      this.#wake();
    });
    this.#running.add(running);
  }

  /** Waits until nothing is on its way. */
  async drain(): Promise<void> {
    await Promise.all(this.#running);
  }
}
