import { systemClock } from '../../../shared/base/clock.ts';
import { systemRandom } from '../../../shared/base/random.ts';
import { createLogger } from '../../../shared/base/logging.ts';
import { createMetrics } from '../../../shared/base/metrics.ts';
import { ClientPool } from '../../../shared/google/bigtable/clients.ts';
import { createRowCalls } from '../../../shared/google/bigtable/row-calls.ts';
import { conditionalRequest, readModifyWriteRequest } from '../../../shared/model/conditional.ts';
import { cellExists } from '../../../shared/model/filter/filter.ts';
import type { RowRequest } from '../../../shared/model/row-request.ts';
import { tableName } from '../../../shared/model/table-name.ts';
import { createRowExecutor } from '../../../shared/single-row/execute.ts';
import { keyOf, type Layer, REQUESTS_IN_FLIGHT, VALUE } from './layers.ts';

const T = tableName('p', 'i', 't');
const QUALIFIER = Buffer.from('q');

/** Sets a cell where the column has none. */
export const conditionalLayer = (address: string): Layer =>
  executorLayer(address, (row) => {
    const rowKey = Buffer.from(keyOf(row));
    const predicate = cellExists('f', QUALIFIER);
    const otherwise = [
      { kind: 'setCell', family: 'f', qualifier: QUALIFIER, timestampMicros: 1000n, value: VALUE } as const,
    ];
    return { kind: 'conditional', request: conditionalRequest({ rowKey, predicate, then: [], otherwise }) };
  });

export const incrementLayer = (address: string): Layer =>
  executorLayer(address, (row) => ({
    kind: 'readModifyWrite',
    request: readModifyWriteRequest({
      rowKey: Buffer.from(keyOf(row)),
      rules: [{ kind: 'increment', family: 'f', qualifier: QUALIFIER, amount: 1n }],
    }),
  }));

/** What production runs a request through, from the request to its decoded answer. */
function executorLayer(address: string, requestOf: (row: number) => RowRequest): Layer {
  const runtime = { clock: systemClock, random: systemRandom, metrics: createMetrics(), logger: createLogger({}) };
  const limits = { maxActiveInstances: 16, destinationIdleTimeoutMillis: 3_600_000 };
  const clients = new ClientPool({ emulatorEndpoint: address, ...limits }, runtime);
  const executor = createRowExecutor(
    {
      appProfileId: '',
      requestTimeoutMillis: 20_000,
      maxInFlightRequests: REQUESTS_IN_FLIGHT,
      perDestinationMetrics: false,
      countsRecords: true,
    },
    { send: createRowCalls(clients), runtime },
  );
  const { signal } = new AbortController();
  return {
    async ask(row) {
      const outcome = await executor.execute(T, requestOf(row), { signal, wait: true });
      if (outcome.kind !== 'answered') throw new Error(`a request was not answered: ${JSON.stringify(outcome)}`);
    },
    close() {
      executor.close();
      clients.close();
      return Promise.resolve();
    },
  };
}
