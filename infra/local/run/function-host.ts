import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { getFunction, getTestServer } from '@google-cloud/functions-framework/testing';
import { sleep, systemClock } from '../../../shared/base/clock.ts';
import { LOOPBACK } from '../base/tcp.ts';

export interface FunctionHostOptions {
  /** Folder with the package.json whose `main` registers the functions with the framework. */
  readonly source: string;
  /** Default 0: any free port. */
  readonly port?: number;
}

export interface FunctionHost {
  readonly port: number;
  /** Where an entry point takes requests: `http://127.0.0.1:<port>/fn/<name>`. */
  url(name: string): string;
  /**
   * Takes no new request (503, so a message comes back later) and resolves when those in flight are answered, or cut
   * off after `graceMillis` (default 9 s: Cloud Run kills after 10 s).
   */
  drain(graceMillis?: number): Promise<void>;
}

const DRAIN_GRACE_MILLIS = 9_000;

/**
 * Serves every entry point of a source in this one process, on one port of 127.0.0.1. For development: one debugger,
 * one start. What it cannot show is one instance dying without the others; a function process can.
 */
export async function startFunctionHost({ source, port = 0 }: FunctionHostOptions): Promise<FunctionHost> {
  await import(await mainModule(source));
  const requests = new Requests();
  const functions = new Map<string, Server>();
  const server = createServer((request, response) => {
    if (!requests.admit(response)) {
      answer(response, 503, 'draining: send it again later');
      return;
    }
    const route = parseRoute(request.url ?? '/');
    if (!route || getFunction(route.name) === undefined) {
      answer(response, 404, `no such function; a function is served at /fn/<name>`);
      return;
    }
    serve(functions, route, request, response);
  });
  await new Promise<void>((done, reject) => {
    server.once('error', reject);
    server.listen(port, LOOPBACK, done);
  });
  const bound = (server.address() as AddressInfo).port;
  return {
    port: bound,
    url: (name) => `http://${LOOPBACK}:${bound}/fn/${name}`,
    async drain(graceMillis = DRAIN_GRACE_MILLIS) {
      const closed = new Promise((done) => server.close(done));
      await requests.drained(graceMillis);
      // Clients keep connections open between requests; without this they would hold the server for seconds.
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Counts requests in flight and refuses new ones once the drain began. */
class Requests {
  #inFlight = 0;
  #isDraining = false;
  readonly #idle = new AbortController();

  admit(response: ServerResponse): boolean {
    if (this.#isDraining) return false;
    this.#inFlight += 1;
    response.once('close', () => {
      this.#inFlight -= 1;
      this.#settle();
    });
    return true;
  }

  /** Resolves when none is in flight, or after `graceMillis`. */
  async drained(graceMillis: number): Promise<void> {
    this.#isDraining = true;
    this.#settle();
    await sleep(systemClock, graceMillis, this.#idle.signal).catch(() => undefined);
  }

  #settle(): void {
    if (this.#isDraining && this.#inFlight === 0) this.#idle.abort();
  }
}

interface Route {
  readonly name: string;
  /** What the function sees as its own URL. */
  readonly rest: string;
}

/** `/fn/<name><rest>`; a function sees a path of its own, as behind its own address in production. */
export function parseRoute(url: string): Route | undefined {
  const parts = /^\/fn\/([A-Za-z0-9_-]+)(.*)$/.exec(url);
  if (parts?.[1] === undefined) return undefined;
  const rest = parts[2] ?? '';
  return { name: parts[1], rest: rest.startsWith('/') ? rest : `/${rest}` };
}

/** Hands the request to the framework's own server of that function, which never listens itself. */
function serve(functions: Map<string, Server>, route: Route, request: IncomingMessage, response: ServerResponse): void {
  let target = functions.get(route.name);
  if (!target) functions.set(route.name, (target = getTestServer(route.name)));
  request.url = route.rest;
  target.emit('request', request, response);
}

function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain' }).end(`${text}\n`);
}

async function mainModule(source: string): Promise<string> {
  const manifest: unknown = JSON.parse(await readFile(resolve(source, 'package.json'), 'utf8'));
  const main = typeof manifest === 'object' && manifest !== null && 'main' in manifest ? manifest.main : 'index.js';
  return pathToFileURL(resolve(source, String(main))).href;
}
