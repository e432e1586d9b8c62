import type { ResolvedWrite } from '../declared/resolved.ts';
import type { Settle } from '../values/fields.ts';
import { compileAggregate, compileCellMode } from './batch.ts';
import { compileConditional } from './conditional.ts';
import { compileInsertIfAbsent, compileReplaceIfNewest, compileRules } from './request.ts';
import type { WriteOf } from './write.ts';

/** Compiles the write mode of a mapping. */
export function compileWrite(write: ResolvedWrite, settle: Settle): WriteOf {
  switch (write.mode) {
    case 'upsert':
    case 'keep-latest':
      return compileCellMode(write, settle);
    case 'aggregate':
      return compileAggregate(write, settle);
    case 'insert-if-absent':
      return compileInsertIfAbsent(write, settle);
    case 'replace-if-newest':
      return compileReplaceIfNewest(write, settle);
    case 'append':
    case 'increment':
      return compileRules(write, settle);
    case 'conditional':
      return compileConditional(write.conditional, settle);
  }
}
