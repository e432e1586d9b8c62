import type { RowRange } from '../../model/row-range.ts';
import { isConnectionLoss, type Status } from '../../model/status.ts';
import type { TableName } from '../../model/table-name.ts';
import { type ChangeMessage, StreamFailedError } from './ports.ts';
import { ChangeTooLargeError, type StreamProtocolError } from './wire-rules.ts';

/** So long the service may say nothing while it is asked, six heartbeats, before the stream is opened anew. */
export const SILENCE_MILLIS = 30_000;

/** How one `ReadChangeStream` ended, if not with a close. */
export type Ending =
  | Extract<ChangeMessage, { readonly kind: 'failed' }>
  /** The service said OK, and never what becomes of the partition. */
  | { readonly kind: 'unclosed' }
  /** We ended it: the service said nothing for {@link SILENCE_MILLIS}. */
  | { readonly kind: 'silent' }
  | { readonly kind: 'broken'; readonly error: StreamProtocolError | ChangeTooLargeError };

const SILENT: Status = { code: 'UNAVAILABLE', message: `the service said nothing for ${SILENCE_MILLIS} ms` };

/** Whether another attempt may fare better without anybody doing anything. */
export const passes = (ending: Ending): boolean =>
  ending.kind === 'silent' ||
  (ending.kind === 'failed' &&
    (ending.status.code === 'UNAVAILABLE' ||
      ending.status.code === 'ABORTED' ||
      ending.status.code === 'DEADLINE_EXCEEDED' ||
      isConnectionLoss(ending.status)));

/** Whether a stream that was told to stop may have ended so for that alone. Any other failure came before the cancel. */
export const isOurs = (ending: Ending): boolean =>
  ending.kind === 'unclosed' || passes(ending) || (ending.kind === 'failed' && ending.status.code === 'CANCELLED');

/** As an error that says what to do. */
export function problemOf(
  ending: Ending,
  source: { readonly table: TableName; readonly range: RowRange },
): StreamFailedError {
  switch (ending.kind) {
    case 'failed':
      return new StreamFailedError('status', source, ending.status);
    case 'silent':
      return new StreamFailedError('status', source, SILENT);
    case 'unclosed':
      return new StreamFailedError('no-close', source, UNCLOSED);
    case 'broken': {
      const { error } = ending;
      const { message } = error;
      return error instanceof ChangeTooLargeError
        ? new StreamFailedError('too-large', source, { code: 'RESOURCE_EXHAUSTED', message }, { cause: error })
        : new StreamFailedError('protocol', source, { code: 'INTERNAL', message }, { cause: error });
    }
  }
}

const UNCLOSED: Status = { code: 'OK', message: 'the stream was over before the partition was closed' };
