import { ConnectorError } from '../../base/errors.ts';

/**
 * Stored bytes are not what this version stores. Nothing is applied and nothing is dropped: they stay where they are
 * until a version that reads them runs, or somebody has looked. Names no row key and no value.
 */
export class StoredBytesError extends ConnectorError {
  override readonly name = 'StoredBytesError';
}
