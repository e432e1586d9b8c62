import { connect } from 'node:net';

/** A request as bytes, so that a test can say what no client would. */
export interface RawRequest {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent one after another. */
  readonly body?: readonly (string | Buffer)[];
  /** In place of the length of the body; null: no header tells it. */
  readonly length?: string | null;
  readonly then?: Ending;
}

/** What the sender does when all is sent. Default: waits for the answer. */
type Ending = 'ends' | 'leaves' | undefined;

export interface RawAnswer {
  /** Of the last answer that came; 0 where the connection closed without one. */
  readonly status: number;
  /** Everything that came. */
  readonly text: string;
}

const STATUS = /HTTP\/1\.1 (\d{3})[^\r]*\r\n/g;
const ANSWER_MILLIS = 30_000;

/** The bytes of a request, its head and its body in parts. */
export function bytesOf({ method = 'POST', path = '/', headers = {}, body = [], length }: RawRequest): Buffer[] {
  const parts = body.map((part) => Buffer.from(part));
  const told = length === undefined ? String(parts.reduce((sum, part) => sum + part.length, 0)) : length;
  const lines = Object.entries({ host: 'test', ...headers, ...(told !== null && { 'content-length': told }) });
  const head = [`${method} ${path} HTTP/1.1`, ...lines.map(([name, value]) => `${name}: ${value}`), '', ''].join(
    '\r\n',
  );
  return [Buffer.from(head), ...parts];
}

/** Sends a request over a connection of its own and resolves with its answer, or with what came until it closed. */
export function exchange(
  port: number,
  request: RawRequest | readonly Buffer[],
  then: Ending = 'then' in request ? request.then : undefined,
): Promise<RawAnswer> {
  const parts = 'map' in request ? request : bytesOf(request);
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`no answer within ${ANSWER_MILLIS} ms: ${text.slice(0, 200)}`));
    }, ANSWER_MILLIS);
    const end = (): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ status: statusOf(text), text });
    };
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      text += chunk;
      if (isWhole(text)) end();
    });
    // A server that refuses may close before all is sent.
    socket.on('error', () => undefined);
    socket.once('end', end).once('close', end);
    const send = (index: number): void => {
      const part = parts[index];
      if (part)
        socket.write(part, () => {
          send(index + 1);
        });
      else if (then === 'leaves') end();
      else if (then === 'ends') socket.end();
    };
    send(0);
  });
}

/** 100 is not an answer yet. */
function statusOf(text: string): number {
  const all = [...text.matchAll(STATUS)].map(([, status]) => Number(status)).filter((status) => status !== 100);
  return all[0] ?? 0;
}

function isWhole(text: string): boolean {
  if (statusOf(text) === 0) return false;
  const answer = text.slice(text.search(/HTTP\/1\.1 (?!100)/));
  const split = answer.indexOf('\r\n\r\n');
  if (split === -1) return false;
  const length = /^content-length: (\d+)$/im.exec(answer.slice(0, split))?.[1];
  if (length !== undefined) return answer.length - split - 4 >= Number(length);
  return !/^transfer-encoding: chunked/im.test(answer.slice(0, split)) || answer.endsWith('0\r\n\r\n');
}
