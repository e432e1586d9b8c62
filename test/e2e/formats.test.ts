import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { REPOSITORY } from '../../infra/local/run/start-functions.ts';

/** Runs `connector map` as a person does: plain Node, from the sources. */
async function map(pipeline: string, record: Buffer, encoding: string): Promise<{ out: string; code: unknown }> {
  const config = 'test/e2e/fixtures/formats/connector.yaml';
  const attribute = ['-a', `googclient_schemaencoding=${encoding}`];
  const args = ['functions/cli/main.ts', 'map', pipeline, '-', '--config', config, ...attribute];
  const child = spawn(process.execPath, args, { cwd: REPOSITORY });
  child.stdin.end(record);
  const ended = once(child, 'exit');
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = (await ended) as [unknown];
  return { out: `${out}${err}`, code };
}

const double = (value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return bytes;
};
const json = Buffer.from('{"id":"r","micros":1000000,"celsius":21.5}');
/** 1,000,000, in Avro's zigzag and in Protobuf's plain form. */
const [zigzag, varint] = [Buffer.from('80897a', 'hex'), Buffer.from('c0843d', 'hex')];
const avro = Buffer.concat([Buffer.from('\x02r'), zigzag, double(21.5)]);
const protobuf = Buffer.concat([Buffer.from('\x0a\x01r\x10'), varint, Buffer.from('\x19'), double(21.5)]);

test.each([
  ['json', 'JSON', json],
  ['avro', 'BINARY', avro],
  ['avro', 'JSON', json],
  ['protobuf', 'BINARY', protobuf],
  ['protobuf', 'JSON', json],
])('connector map, a real process, shows the row of a record of format %s in encoding %s', async (...given) => {
  const [pipeline, encoding, record] = given;
  const { out, code } = await map(pipeline, record, encoding);
  expect(out.split('\n').map((line) => line.trim())).toEqual([
    'record 0',
    'table    local.formats.readings',
    'row key  "r"',
    String.raw`set      reading:celsius = "@5\x80\x00\x00\x00\x00\x00" @ 1000000 µs`,
    'written 1, skipped 0, refused 0',
    '',
  ]);
  expect(code).toBe(0);
});
