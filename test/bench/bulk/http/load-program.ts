import { load } from '../../support/http-load.ts';
import { endWith, programArgument } from '../../support/program.ts';
import { preparedPushes, type PushShape } from '../pushes.ts';

export interface LoadArgument {
  readonly port: number;
  readonly concurrency: number;
  readonly requests: number;
  readonly shape: PushShape;
}

/** More different messages than are ever in flight. */
const MESSAGES = 1024;

/** Pushes from a process of its own, so that the sender's work is not the function's. */
const { port, concurrency, requests, shape } = programArgument() as LoadArgument;
const prepared = preparedPushes(Math.max(MESSAGES / shape.recordsPerMessage, 2 * concurrency), shape);
endWith(await load({ port, concurrency, requests, prepared }));
