import { resolveCellFormat } from './cell-format.ts';
import { memberPath, refuseAll, type Report } from './problems.ts';
import type { ResolvedRowKey, ResolvedTemplate, TemplatePolicy } from './resolved.ts';
import type { MappingInput } from './schema/mapping.ts';
import { parseTemplate } from './template.ts';

type RowKeyInput = MappingInput['rowKey'];

const REJECT_ALL: TemplatePolicy = { onNull: 'reject', onEmpty: 'reject', onDelimiter: 'reject' };

/** Resolves the row key: a template, or one field in the bytes of a type. */
export function resolveRowKey(input: RowKeyInput, path: string, report: Report): ResolvedRowKey | undefined {
  if (typeof input === 'string') return keyTemplate(input, path, REJECT_ALL, report);
  const { template, field, type, encoding, unit, truncateToMillis, ...policy } = input;
  if ((template === undefined) === (field === undefined)) {
    report.add(path, 'must have exactly one of template and field', input);
    return undefined;
  }
  if (template !== undefined) {
    refuseAll({ type, encoding, unit, truncateToMillis }, 'applies to a key of one field only', path, report);
    const { onNull, onEmpty, onDelimiter } = policy;
    const filled: TemplatePolicy = {
      onNull: onNull ?? 'reject',
      onEmpty: onEmpty ?? 'reject',
      onDelimiter: onDelimiter ?? 'reject',
    };
    return keyTemplate(template, memberPath(path, 'template'), filled, report);
  }
  refuseAll(policy, 'applies to a template only', path, report);
  if (type === undefined) report.add(memberPath(path, 'type'), 'is needed for a key of one field', undefined);
  const reference = report.field(memberPath(path, 'field'), field ?? '');
  const format =
    type === undefined
      ? undefined
      : resolveCellFormat({ type, encoding, unit, truncateToMillis }, { path, nullString: '' }, report);
  return reference && format && { kind: 'typed', field: reference, format };
}

function keyTemplate(text: string, path: string, policy: TemplatePolicy, report: Report): ResolvedRowKey | undefined {
  const template = resolveTemplate(text, { path, policy, isKey: true }, report);
  return template && { kind: 'template', template };
}

/** Resolves a template and notes the fields that it reads. */
export function resolveTemplate(
  text: string,
  { path, policy, isKey }: { readonly path: string; readonly policy: TemplatePolicy; readonly isKey: boolean },
  report: Report,
): ResolvedTemplate | undefined {
  const parts = report.parse(path, text, (written) => parseTemplate(written, { isKey }));
  for (const part of parts ?? []) {
    if (part.kind === 'field') report.read(path, part.field);
  }
  return parts && { parts, policy };
}
