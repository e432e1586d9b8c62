import { RecordError } from '../../base/errors.ts';
import { fromWireMutation } from '../../mapping/rows/entry-wire.ts';
import { type ReadModifyWriteRule, ruleProblem } from '../../model/conditional.ts';
import { filterProblem, type RowFilter } from '../../model/filter/filter.ts';
import { MAX_MUTATIONS, type Mutation } from '../../model/mutation.ts';
import { mutationProblem, rowKeyRule } from '../../model/mutation-rules.ts';
import type { RowRequest, RowRequestDocument } from '../../model/row-request.ts';
import { RowRequest as ProtoRequest } from '../../proto/connector/v1/row_request.ts';
import type { CheckAndMutateRowRequest, ReadModifyWriteRowRequest } from '../../proto/google/bigtable/v2/bigtable.ts';
import type {
  Mutation as WireMutation,
  ReadModifyWriteRule as WireRule,
  RowFilter as WireFilter,
} from '../../proto/google/bigtable/v2/data.ts';
import { fromWireFilter, type Report } from '../../forms/filter-wire.ts';
import { toWireConditional, toWireReadModifyWrite } from '../wire.ts';
import { problemOf, type RequestProblem, RowRequestError } from './problems.ts';
import { correlationIdRule, NO_MUTATION_RULE, NO_RULE_RULE, ONE_REQUEST_RULE, tableRule, VERSION } from './rules.ts';

/** Row requests as `connector.v1.RowRequest`, both ways. Pure. */

/** The table and profile are the pipeline's to say. */
const ADDRESS = { tableName: '', authorizedViewName: '', appProfileId: '' } as const;

export const encodeRequestProto = ({ request, table = '', correlationId = '' }: RowRequestDocument): Uint8Array =>
  ProtoRequest.encode({
    version: VERSION,
    table,
    correlationId,
    request:
      request.kind === 'conditional'
        ? { $case: 'conditional', value: { ...ADDRESS, ...toWireConditional(request.request) } }
        : { $case: 'readModifyWrite', value: { ...ADDRESS, ...toWireReadModifyWrite(request.request) } },
  }).finish();

/** Reads a document. Throws a {@link RowRequestError} with every problem by its path. */
export function decodeRequestProto(bytes: Buffer): RowRequestDocument {
  const { version, table, correlationId, request: wire } = decoded(bytes);
  if (version !== VERSION) {
    throw new RowRequestError([{ path: 'version', message: `must be ${VERSION}, got ${version}` }]);
  }
  const problems: RequestProblem[] = [];
  const report: Report = (path, message) => {
    problems.push({ path, message });
  };
  const check = (path: string, message: string | undefined): void => {
    if (message !== undefined) report(path, message);
  };
  if (table !== '') check('table', tableRule(table));
  if (correlationId !== '') check('correlationId', correlationIdRule(correlationId));
  const request = requestOf(wire, report);
  if (problems.length > 0 || !request) throw new RowRequestError(problems);
  return { request, ...(table !== '' && { table }), ...(correlationId !== '' && { correlationId }) };
}

function decoded(bytes: Buffer): ProtoRequest {
  try {
    return ProtoRequest.decode(bytes);
  } catch (cause) {
    const message = 'must be the bytes of a connector.v1.RowRequest, got others';
    throw new RowRequestError([{ path: 'request', message }], { cause });
  }
}

function requestOf(wire: ProtoRequest['request'], report: Report): RowRequest | undefined {
  switch (wire?.$case) {
    case undefined:
      report('request', `${ONE_REQUEST_RULE}, got none`);
      return undefined;
    case 'conditional':
      return conditionalOf(wire.value, report);
    case 'readModifyWrite':
      return readModifyWriteOf(wire.value, report);
    default:
      return wire satisfies never;
  }
}

function conditionalOf(wire: CheckAndMutateRowRequest, report: Report): RowRequest {
  checkTarget('conditional', wire, report);
  const predicate = wire.predicateFilter && predicateOf(wire.predicateFilter, 'conditional.predicateFilter', report);
  const then = mutationsOf(wire.trueMutations, 'conditional.trueMutations', report);
  const otherwise = mutationsOf(wire.falseMutations, 'conditional.falseMutations', report);
  if (wire.trueMutations.length === 0 && wire.falseMutations.length === 0) report('conditional', NO_MUTATION_RULE);
  return { kind: 'conditional', request: { rowKey: wire.rowKey, ...(predicate && { predicate }), then, otherwise } };
}

function readModifyWriteOf(wire: ReadModifyWriteRowRequest, report: Report): RowRequest {
  checkTarget('readModifyWrite', wire, report);
  if (wire.rules.length === 0) report('readModifyWrite.rules', NO_RULE_RULE);
  const rules = listOf(wire.rules, 'readModifyWrite.rules', ruleOf, ruleProblem, report);
  return { kind: 'readModifyWrite', request: { rowKey: wire.rowKey, rules } };
}

type Target = Pick<CheckAndMutateRowRequest, 'rowKey' | keyof typeof ADDRESS>;

function checkTarget(path: string, wire: Target, report: Report): void {
  for (const field of ['tableName', 'authorizedViewName', 'appProfileId'] as const) {
    if (wire[field] !== '') report(`${path}.${field}`, 'must be empty, for the pipeline decides it, got a text');
  }
  const rule = rowKeyRule(wire.rowKey);
  if (rule !== undefined) report(`${path}.rowKey`, rule);
}

function predicateOf(wire: WireFilter, path: string, report: Report): RowFilter | undefined {
  const filter = fromWireFilter(wire, path, report);
  const problem = filter && filterProblem(filter, path);
  if (problem !== undefined) reportAt(problem, report);
  return filter;
}

const mutationsOf = (wire: readonly WireMutation[], path: string, report: Report): readonly Mutation[] =>
  listOf(wire, path, fromWireMutation, mutationProblem, report);

/** Reads and checks every item, so that each is reported, and as many of them as there are. */
function listOf<Wire, Item>(
  wire: readonly Wire[],
  path: string,
  read: (wire: Wire, path: string) => Item,
  problemWith: (item: Item) => string | undefined,
  report: Report,
): readonly Item[] {
  if (wire.length > MAX_MUTATIONS) {
    report(path, `must hold at most ${MAX_MUTATIONS}, got ${wire.length}`);
    return [];
  }
  const items: Item[] = [];
  for (const [index, each] of wire.entries()) {
    const at = `${path}[${index}]`;
    try {
      const item = read(each, at);
      const problem = problemWith(item);
      if (problem !== undefined) report(at, problem);
      items.push(item);
    } catch (error) {
      if (!(error instanceof RecordError)) throw error;
      reportAt(error.message, report);
    }
  }
  return items;
}

function reportAt(message: string, report: Report): void {
  const problem = problemOf(message);
  report(problem.path, problem.message);
}

function ruleOf({ familyName, columnQualifier, rule }: WireRule, path: string): ReadModifyWriteRule {
  const column = { family: familyName, qualifier: columnQualifier };
  switch (rule?.$case) {
    case undefined:
      throw new RecordError(`${path}: must be an append or an increment, got none`);
    case 'appendValue':
      return { kind: 'append', ...column, value: rule.value };
    case 'incrementAmount':
      return { kind: 'increment', ...column, amount: rule.value };
    default:
      return rule satisfies never;
  }
}
