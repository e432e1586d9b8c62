import { ConnectorError } from '../../../shared/base/errors.ts';

/** Something of the local cloud cannot be as it was asked for; the message says what to change. */
export class LocalCloudError extends ConnectorError {
  override readonly name = 'LocalCloudError';
}

/** What a person should read of a failure: no stack where somebody here, or the system, has named what is wrong. */
export function failureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isNamed = error instanceof ConnectorError || 'code' in error;
  return isNamed ? error.message : (error.stack ?? error.message);
}
