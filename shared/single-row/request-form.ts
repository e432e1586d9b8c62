import { RecordError } from '../base/errors.ts';
import { conditionalRequest, readModifyWriteRequest } from '../model/conditional.ts';
import type { RowRequestDocument } from '../model/row-request.ts';
import type { WriteForm } from '../records/prepare.ts';

/** What a record of a request sink becomes: a request, with what is said beside it. */
export const requestForm = (decode: WriteForm<RowRequestDocument>['decode']): WriteForm<RowRequestDocument> => ({
  payload: 'request',
  decode,
  check({ request: { kind, request } }) {
    // A module's promise of what it returns holds no longer than until it runs.
    switch (kind) {
      case 'conditional':
        conditionalRequest(request);
        return;
      case 'readModifyWrite':
        readModifyWriteRequest(request);
        return;
      default:
        throw new RecordError(`request: must be conditional or readModifyWrite, got ${String(kind satisfies never)}`);
    }
  },
});
