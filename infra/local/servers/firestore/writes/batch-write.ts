import { STATUS_CODES } from '../../../../../shared/model/status.ts';
import type { BatchWriteResponse } from '../../../../../shared/proto/google/firestore/v1/firestore.ts';
import type { Write, WriteResult } from '../../../../../shared/proto/google/firestore/v1/write.ts';
import type { Status } from '../../../../../shared/proto/google/rpc/status.ts';
import { GrpcError } from '../../rpc/grpc.ts';
import type { RequestOf } from '../api.ts';
import type { FirestoreState } from '../state.ts';
import { requireWrites, writeOnceUnlocked } from './commit.ts';
import { writtenDocument } from './write.ts';

interface WriteAnswer {
  readonly result: WriteResult;
  readonly status: Status;
}

/** Writes in no order and each for itself: one that is refused does not hold up the others. */
export async function batchWrite(
  state: FirestoreState,
  { database, writes, bytes }: RequestOf<'BatchWrite'>,
  signal: AbortSignal,
): Promise<BatchWriteResponse> {
  requireWrites(state, database, writes, bytes);
  if (new Set(writes.map(writtenDocument)).size < writes.length) {
    throw new GrpcError('INVALID_ARGUMENT', 'the same document cannot be written more than once in a single request');
  }
  const answers = await Promise.all(writes.map((write) => answerOf(state, write, signal)));
  return { writeResults: answers.map(({ result }) => result), status: answers.map(({ status }) => status) };
}

async function answerOf(state: FirestoreState, write: Write, signal: AbortSignal): Promise<WriteAnswer> {
  try {
    const { results } = await writeOnceUnlocked(state, [write], undefined, signal);
    return { result: results[0] ?? NO_RESULT, status: { code: STATUS_CODES.OK, message: '', details: [] } };
  } catch (error) {
    if (!(error instanceof GrpcError)) throw error;
    return { result: NO_RESULT, status: { code: error.code, message: error.details, details: [] } };
  }
}

const NO_RESULT: WriteResult = { updateTime: undefined, transformResults: [] };
