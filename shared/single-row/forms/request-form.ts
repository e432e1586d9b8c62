import * as z from 'zod';
import type { ConditionalRequest, ReadModifyWriteRequest, ReadModifyWriteRule } from '../../model/conditional.ts';
import { MAX_MUTATIONS } from '../../model/mutation.ts';
import type { RowRequest, RowRequestDocument } from '../../model/row-request.ts';
import { bytesJson } from '../../forms/bytes-json.ts';
import { filterJson, predicate } from '../../forms/filter-form.ts';
import { family, int64, only, qualifier } from '../../forms/leaves.ts';
import { mutation, mutationJson } from './mutation-form.ts';
import { NO_MUTATION_RULE, NO_RULE_RULE, ONE_REQUEST_RULE, VERSION } from './rules.ts';
import { body, listOf, oneOf } from '../../forms/shapes.ts';
import { appended, correlationId, rowKey, table } from './leaves.ts';

/** Row requests in JSON, version 1: the check, the JSON Schema and what is written out. Pure. */

const branch = listOf(mutation, MAX_MUTATIONS).prefault([]);

const conditional = body({
  rowKey,
  predicate: z.exactOptional(predicate).meta({ description: 'Absent: does the row hold any cell at all?' }),
  then: branch.meta({ description: 'Applied, in order, when the predicate lets a cell through.' }),
  otherwise: branch.meta({ description: 'Applied, in order, when the predicate lets none through.' }),
})
  .check(({ value, issues }) => {
    if (value.then.length > 0 || value.otherwise.length > 0) return;
    issues.push({ code: 'custom', message: NO_MUTATION_RULE, input: value });
  })
  .transform((request): RowRequest => ({ kind: 'conditional', request }));

const rule = oneOf<ReadModifyWriteRule>(
  {
    increment: body({ family, qualifier, amount: int64 }).transform((value): ReadModifyWriteRule => ({
      kind: 'increment',
      ...value,
    })),
    append: body({ family, qualifier, value: appended }).transform((value): ReadModifyWriteRule => ({
      kind: 'append',
      ...value,
    })),
  },
  'rule',
);

const readModifyWrite = body({
  rowKey,
  rules: listOf(rule, MAX_MUTATIONS)
    .min(1, { error: NO_RULE_RULE })
    .meta({ description: 'Applied in order; two may name the same column.' }),
}).transform((request): RowRequest => ({ kind: 'readModifyWrite', request }));

/** The document: a version, exactly one request, and what is said beside it. */
export const requestDocument = body({
  version: only(VERSION),
  table: z.exactOptional(table).meta({
    description:
      'The id of a table of the pipeline’s instance, or `projects/…/instances/…/tables/…`; `project.instance.table` where that is the pipeline’s instance, or the pipeline names none. Absent: the pipeline’s table.',
  }),
  correlationId: z.exactOptional(correlationId).meta({
    description: 'Comes back in the result. Absent: the id of the message or HTTP request that brought this.',
  }),
  conditional: z.exactOptional(conditional),
  readModifyWrite: z.exactOptional(readModifyWrite),
})
  .check(({ value, issues }) => {
    const isOne = (value.conditional === undefined) !== (value.readModifyWrite === undefined);
    if (isOne || issues.length > 0) return;
    const got = value.conditional === undefined ? 'none' : 'both';
    issues.push({ code: 'custom', message: `${ONE_REQUEST_RULE}, got ${got}`, input: value });
  })
  .transform((document): RowRequestDocument => ({
    request: document.conditional ?? (document.readModifyWrite as RowRequest),
    ...(document.table !== undefined && { table: document.table }),
    ...(document.correlationId !== undefined && { correlationId: document.correlationId }),
  }));

/** The document as JSON reads it back. */
export const requestJson = ({ request, table: named, correlationId: id }: RowRequestDocument): object => ({
  version: VERSION,
  ...(named !== undefined && { table: named }),
  ...(id !== undefined && { correlationId: id }),
  [request.kind]: request.kind === 'conditional' ? conditionalJson(request.request) : rulesJson(request.request),
});

const conditionalJson = (request: ConditionalRequest): object => ({
  rowKey: bytesJson(request.rowKey),
  ...(request.predicate && { predicate: filterJson(request.predicate) }),
  then: request.then.map(mutationJson),
  otherwise: request.otherwise.map(mutationJson),
});

const rulesJson = (request: ReadModifyWriteRequest): object => ({
  rowKey: bytesJson(request.rowKey),
  rules: request.rules.map((each) => {
    const column = { family: each.family, qualifier: bytesJson(each.qualifier) };
    return each.kind === 'append'
      ? { append: { ...column, value: bytesJson(each.value) } }
      : { increment: { ...column, amount: String(each.amount) } };
  }),
});
