import { ConnectorError } from '../../../shared/base/errors.ts';

/** Something of the local cloud cannot be as it was asked for; the message says what to change. */
export class LocalCloudError extends ConnectorError {
  override readonly name = 'LocalCloudError';
}
