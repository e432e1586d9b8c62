import { compileMapping } from '../../shared/mapping/compile-mapping.ts';
import { resolveMapping } from '../../shared/config/mapping/resolve.ts';
import type { InputRecord } from '../../shared/model/record.ts';

/**
 * What mapping a flat JSON record of 20 columns costs on top of JSON.parse, in CPU time. Both sides take the same
 * bytes in one process, in turns, so their ratio holds on a busy machine too. The bound is 15 µs a record.
 * Runs with `node test/bench/mapping.ts`; exit code 1 above the bound.
 */
const ROUNDS = 9;
const RECORDS_PER_ROUND = 50_000;
const WARM_UP = 30_000;
const BOUND_MICROS = 15;

/** A mix as records have it: texts, small and 64-bit integers, decimals, floats, booleans, a time, a null. */
const sample = {
  id: 1042, tenant: 'acme-europe', name: 'A name of middling length', email: 'somebody@example.com', city: 'Lisboa',
  status: 'shipped', note: null, created: '2026-11-29T22:26:12.123Z', updated: 1_764_455_172_123, count: 3, clicks: 12_345,
  version: -7, big: '9007199254740993', price: 1299.95, discount: 0.15, latitude: 38.722252, longitude: -9.139337,
  active: true, deleted: false, currency: 'EUR',
}; // prettier-ignore

const options = {
  rowKey: '${tenant}#${id|pad:12}',
  timestamp: { field: 'updated', unit: 'millis' },
  families: {
    f: {
      columns: {
        id: 'int64', tenant: 'string', name: 'string', email: 'string', city: 'string', status: 'string', note: 'string',
        created: 'timestamp', updated: 'int64', count: 'int32', clicks: 'int64', version: 'int32', big: 'int64',
        price: 'decimal(12,2)', discount: 'double', latitude: 'double', longitude: 'double', active: 'boolean',
        deleted: 'boolean', currency: 'string',
      }, // prettier-ignore
    },
  },
};

const data = Buffer.from(JSON.stringify(sample));
const record: InputRecord = {
  index: 0,
  data,
  message: { messageId: '1', publishTimeMicros: 0n, attributes: {}, orderingKey: '', subscription: '', data },
};

/** CPU microseconds of one call, over a round. */
function cost(run: () => unknown, calls: number): number {
  const before = process.cpuUsage();
  for (let call = 0; call < calls; call += 1) run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / calls;
}

interface Summary {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

function summary(costs: readonly number[]): Summary {
  const sorted = costs.toSorted((left, right) => left - right);
  return { median: sorted[sorted.length >> 1] ?? 0, least: sorted[0] ?? 0, most: sorted.at(-1) ?? 0 };
}

const show = ({ median, least, most }: Summary): string =>
  `${median.toFixed(2)} µs (${least.toFixed(2)} to ${most.toFixed(2)})`;

async function main(): Promise<void> {
  const { mapping, problems } = resolveMapping(options, 'mapping');
  if (!mapping) throw new Error(problems.map(({ path, rule }) => `${path}: ${rule}`).join('\n'));
  const { prepare } = await compileMapping(mapping);
  const context = { publishTimeMicros: 0n };
  const parse = (): unknown => JSON.parse(data.toString('utf8'));
  const map = (): unknown => prepare(record, context)?.write();

  cost(parse, WARM_UP);
  cost(map, WARM_UP);
  const [parses, maps]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    parses.push(cost(parse, RECORDS_PER_ROUND));
    maps.push(cost(map, RECORDS_PER_ROUND));
  }
  const added = summary(maps.map((micros, round) => micros - (parses[round] ?? 0)));
  const ratio = summary(maps.map((micros, round) => micros / (parses[round] ?? 1)));
  console.log(
    `mapping: a flat JSON record of ${data.length} bytes and 20 columns, CPU time, ${ROUNDS} rounds of ${RECORDS_PER_ROUND}`,
  );
  console.log(`  JSON.parse           ${show(summary(parses))}`);
  console.log(`  decode and map       ${show(summary(maps))}`);
  console.log(`  on top of JSON.parse ${show(added)}, bound ${BOUND_MICROS} µs`);
  console.log(
    `  ratio to JSON.parse  ${ratio.median.toFixed(2)} (${ratio.least.toFixed(2)} to ${ratio.most.toFixed(2)})`,
  );
  process.exitCode = added.median <= BOUND_MICROS ? 0 : 1;
}

await main();
