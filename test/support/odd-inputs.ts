import { previewRecord } from '../../shared/mapping/preview.ts';
import { loadConfig, pipelineNamed } from '../../shared/config/load.ts';
import type { SinkPipeline } from '../../shared/config/resolved.ts';
import { loadPreparation, type Preparation } from '../../functions/cli/map/preparation.ts';
import { RecordError } from '../../shared/base/errors.ts';
import { framedRecords } from '../../shared/records/framed-records.ts';
import { printableBytes } from '../../shared/model/bytes.ts';
import { decodeRowRequest } from '../../shared/single-row/forms/documents.ts';
import { startSink } from './sink-harness.ts';
import { pushedMessage } from './pushed-message.ts';

/** The page of odd inputs as a table of cases, and what really happens to each. */

/** One row of the page. */
export interface OddInput {
  readonly section: string;
  /** Of the pipeline, in YAML, with the option of the row in its place. */
  readonly pipeline: string;
  readonly name: string;
  readonly message: Message;
  readonly outcome: string;
}

interface Message {
  readonly data: Buffer;
  readonly attributes: Readonly<Record<string, string>>;
  readonly orderingKey: string;
}

/** Stands in the YAML of a section for what the column "Option" holds. */
const PLACE = '…';

/** The rows of all tables that follow a block of YAML. */
export function oddInputsOf(page: string): OddInput[] {
  return page.split(/^## /m).flatMap((text) => {
    const [section = ''] = text.split('\n', 1);
    const yaml = /^```yaml\n(.*?)^```$/ms.exec(text)?.[1];
    if (yaml === undefined) return [];
    const [head = [], , ...rows] = [...text.matchAll(/^\|(.*)\|$/gm)].map(([, cells = '']) => cellsOf(cells));
    return rows.map((cells): OddInput => {
      const cell = (name: string): string | undefined => cells[head.indexOf(name)];
      const option = codeOf(cell('Option') ?? '');
      return {
        section,
        pipeline: yaml.replace(PLACE, option),
        name: [cells[0], option].filter((part) => part !== '').join(' '),
        message: messageOf(codeOf(cell('Record') ?? ''), codeOf(cell('Message') ?? '')),
        outcome: cell('Becomes') ?? '',
      };
    });
  });
}

/** A vertical line inside a cell is written with a backslash. */
const cellsOf = (row: string): string[] =>
  row.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll(String.raw`\|`, '|'));

const codeOf = (cell: string): string => /^`(.*)`$/.exec(cell)?.[1] ?? '';

const codesOf = (text: string): string[] => [...text.matchAll(/`(.*?)`/g)].map(([, code = '']) => code);

function messageOf(record: string, message: string): Message {
  const { data = record, ...members } = (message === '' ? {} : JSON.parse(message)) as Partial<Record<string, unknown>>;
  return {
    attributes: {},
    orderingKey: '',
    ...members,
    data: bytesOf(data === '' && message !== '' ? '{}' : String(data)),
  };
}

/** `⟨0a ff⟩` stands for bytes in hexadecimal, `⟨k × 4097⟩` for a text so many times. */
function bytesOf(text: string): Buffer {
  const parts = text.split(/(⟨[^⟩]*⟩)/).map((part) => {
    const inner = /^⟨(.*)⟩$/.exec(part)?.[1];
    if (inner === undefined) return Buffer.from(part);
    const [, repeated, count] = /^(.*) × (\d+)$/.exec(inner) ?? [];
    if (repeated !== undefined) return Buffer.from(repeated.repeat(Number(count)));
    return Buffer.from(inner.replaceAll(' ', ''), 'hex');
  });
  return Buffer.concat(parts);
}

/** What the page says, as comparable texts: the word, then what must be seen. */
export function saidOf({ outcome }: OddInput): { readonly word: string; readonly codes: readonly string[] } {
  const [said = ''] = outcome.split(' — ');
  return { word: /^\w+/.exec(said)?.[0] ?? '', codes: codesOf(said) };
}

/** What happens: the same word, and everything that is seen. */
export interface Seen {
  readonly word: string;
  readonly lines: readonly string[];
}

/** The section whose rows go all the way. */
const SENT = 'Sent to Bigtable';

/** Runs the row through the pipeline as its sink does, up to what would be sent, and in one section to Bigtable and back. */
export async function happens({ section, pipeline, message }: OddInput): Promise<Seen> {
  if (pipeline.includes('serializer: request')) return happensToRequest(message);
  if (section === SENT) return happensInBigtable(message);
  const sink = await pipelineOf(pipeline);
  const preparation = await loadPreparation(sink, '/');
  const records = framedRecords(pushedMessage({ ...message, messageId: 'm' }), sink.input.framing);
  const seen = records.map((record) => happensToRecord(record, preparation));
  if (seen.length === 0) return { word: 'acknowledged', lines: ['no record'] };
  const words = new Set(seen.map(({ word }) => word));
  return { word: words.size === 1 ? [...words].join('') : 'mixed', lines: seen.flatMap(({ lines }) => lines) };
}

async function pipelineOf(options: string): Promise<SinkPipeline> {
  const own = options.replaceAll(/^/gm, '    ');
  const table = /^\s*(?:table|destinationAttribute):/m.test(options) ? '' : '    table: t\n';
  const document = `defaults: { project: p, instance: i }\npipelines:\n  odd:\n    kind: bulk-sink\n    topic: odd\n${table}${own}`;
  const { config } = await loadConfig({ CONNECTOR_CONFIG: document });
  return pipelineNamed(config, 'odd') as SinkPipeline;
}

function happensToRecord(record: ReturnType<typeof framedRecords>[number], preparation: Preparation): Seen {
  if (record.broken) return { word: 'refused', lines: [record.broken.message] };
  const { outcome, lines } = previewRecord(preparation, record);
  if (outcome === 'skipped') return { word: 'skipped', lines: [] };
  if (outcome === 'write')
    return {
      word: 'written',
      lines: lines.map((line) => line.replace(/^(\S+) +/, '$1 ').replace(/^row key +/, 'row key ')),
    };
  const [, kind = '', text = ''] = /^(\w+) +(.*)$/s.exec(lines[0] ?? '') ?? [];
  return { word: kind === 'waits' ? 'redelivered' : 'refused', lines: [text] };
}

function happensToRequest({ data, attributes }: Message): Seen {
  try {
    const { request, table } = decodeRowRequest(data, attributes['content-type']);
    return { word: 'sent', lines: [`row key "${request.request.rowKey.toString()}"`, `table ${table ?? 't'}`] };
  } catch (error) {
    if (error instanceof RecordError) return { word: 'refused', lines: [error.message] };
    throw error;
  }
}

/** Family `f` holds bytes, as the sink's test table has it. */
async function happensInBigtable({ data }: Message): Promise<Seen> {
  await using sink = await startSink({ deadLetters: 'topic' });
  await sink.push({ data });
  const [letter] = await sink.letters();
  if (letter) return { word: 'refused', lines: [letter.attributes['dlq-error'] ?? ''] };
  const rows = await sink.rows();
  const lines = rows.flatMap(({ key, cells }) => [`row key "${printableBytes(Buffer.from(key))}"`, ...cells]);
  return { word: 'written', lines };
}
