import { MAX_CORRELATION_ID_BYTES } from '../../model/row-request.ts';
import { parseNamedTable } from '../../model/table-name.ts';

/** The rules of a document that hold in JSON and in proto alike. Pure. */

/** Of requests and of results. A reader refuses a version that it does not know. */
export const VERSION = 1;

export const NO_MUTATION_RULE = 'must have a mutation in one of its branches, got none';
export const NO_RULE_RULE = 'must hold at least one rule, got none';
export const ONE_REQUEST_RULE = 'must have either conditional or readModifyWrite';

/** Any instance: whether the id alone may stand is the pipeline's to say. */
const SOME_HOME = { project: 'p', instance: 'i' };

/** Why a text cannot name a table of any pipeline, or undefined. */
export function tableRule(name: string): string | undefined {
  if (parseNamedTable(name, undefined) ?? parseNamedTable(name, SOME_HOME)) return undefined;
  return `must be ${TABLE_FORMS}, got another text`;
}

/** How a request names a table. */
export const TABLE_FORMS = 'the id of a table, project.instance.table or projects/…/instances/…/tables/…';

/** Why a text cannot be a correlation id, or undefined. */
export function correlationIdRule(id: string): string | undefined {
  const length = Buffer.byteLength(id);
  const isRight = length > 0 && length <= MAX_CORRELATION_ID_BYTES;
  return isRight ? undefined : `must be 1 to ${MAX_CORRELATION_ID_BYTES} bytes, got ${length}`;
}
