import { compileMapping } from '../../../shared/mapping/compile-mapping.ts';
import { resolveMapping } from '../../../shared/mapping/declared/resolve.ts';
import type { InputRecord } from '../../../shared/model/record.ts';
import type { BenchCase } from '../support/case.ts';
import { interleave, type Subject } from '../support/rounds.ts';
import { ratioOf, spreadOf } from '../support/statistics.ts';

const ROUNDS = 9;
const QUICK_ROUNDS = 3;
const RECORDS_PER_ROUND = 50_000;
const QUICK_RECORDS = 5000;
const WARM_UP = 30_000;
const BOUND_MICROS = 15;

const PARSE = 'JSON.parse';
const MAP = 'decode and map';
const QUANTITY = 'CPU µs/record';

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
  // Near the time of the record, which is bounded by it.
  message: {
    messageId: '1',
    publishTimeMicros: 1_764_455_172_000_000n,
    attributes: {},
    orderingKey: '',
    subscription: '',
    data,
  },
};

/**
 * What mapping a flat JSON record of 20 columns costs on top of JSON.parse, in CPU time. Both sides take the same bytes in
 * this process, in turns, so that their ratio holds on a busy machine too.
 */
export const flatJsonCase: BenchCase = {
  name: 'flat-json',
  title: `Mapping a flat JSON record of ${data.length} bytes and 20 columns`,
  async run(settings) {
    const { isQuick, runs } = settings;
    const records = isQuick ? QUICK_RECORDS : RECORDS_PER_ROUND;
    const parse = (): unknown => JSON.parse(data.toString('utf8'));
    const map = await mapper();
    cost(parse, WARM_UP);
    cost(map, WARM_UP);
    const subject = (name: string, run: () => unknown): Subject => ({
      name,
      measure: () => Promise.resolve({ [QUANTITY]: cost(run, records) }),
    });
    const measured = await interleave(
      runs ?? (isQuick ? QUICK_ROUNDS : ROUNDS),
      [subject(PARSE, parse), subject(MAP, map)],
      settings,
    );
    const [parses, maps] = [measured.values(PARSE, QUANTITY), measured.values(MAP, QUANTITY)];
    const added = maps.map((micros, round) => micros - (parses[round] ?? Number.NaN));
    const bounds = added.map(() => BOUND_MICROS);
    const toParse = spreadOf(maps.map((micros, round) => micros / (parses[round] ?? Number.NaN)));
    return {
      kind: 'measured',
      series: [...measured.series(), { subject: `on top of ${PARSE}`, quantity: QUANTITY, values: added }],
      ratios: [ratioOf(`on top of ${PARSE}, to the bound of ${BOUND_MICROS} µs`, added, bounds, { atMost: 1 })],
      notes: [
        `      ${MAP} is ${toParse.median.toFixed(2)}× ${PARSE} (${toParse.min.toFixed(2)} – ${toParse.max.toFixed(2)}), ${records} records a round`,
      ],
    };
  },
};

async function mapper(): Promise<() => unknown> {
  const { mapping, problems } = resolveMapping(options, 'mapping');
  if (!mapping) throw new Error(problems.map(({ path, rule }) => `${path}: ${rule}`).join('\n'));
  const { prepare } = await compileMapping(mapping);
  const context = { publishTimeMicros: 0n };
  return () => prepare(record, context)?.write();
}

/** CPU microseconds of one call, over a round. */
function cost(run: () => unknown, calls: number): number {
  const before = process.cpuUsage();
  for (let call = 0; call < calls; call += 1) run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / calls;
}
