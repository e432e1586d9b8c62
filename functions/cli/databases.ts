import { closed } from './interruption.ts';
import type { CliContext, DatabasePort } from './ports.ts';

/**
 * Closes databases after a command that has had all its answers. After any other they stay open until the process ends, a
 * moment later: once it is terminated, the client of Firestore rejects calls that are on their way where nobody listens,
 * and the process would end with the stack of that (9.4.1, seen at an interrupted query).
 */
export async function usingDatabases<Result>(
  { signal, ending }: CliContext,
  databases: readonly DatabasePort[],
  use: () => Promise<Result>,
): Promise<Result> {
  const result = await use();
  if (!signal.aborted) {
    const closing = Promise.all(databases.map((database) => database.close()));
    await closed(
      closing.then(() => undefined),
      ending,
    );
  }
  return result;
}
