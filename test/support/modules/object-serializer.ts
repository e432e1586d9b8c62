import type { Serializer } from '../../../shared/mapping/serializer.ts';
import type { InputRecord } from '../../../shared/model/record.ts';

/** A module whose default export has `open` and `resolve` beside `serialize`, and state that they share. */
class PrefixSerializer implements Serializer {
  #prefix = 'not opened';

  async open(options: unknown): Promise<void> {
    await Promise.resolve();
    this.#prefix = JSON.stringify(options);
  }

  serialize({ data }: InputRecord): ReturnType<Serializer['serialize']> {
    return {
      rowKey: Buffer.concat([Buffer.from(this.#prefix), data]),
      mutations: [{ kind: 'deleteFromRow' }],
    };
  }

  resolve({ message }: InputRecord): string {
    return `${this.#prefix}-${message.messageId}`;
  }
}

export default new PrefixSerializer();
