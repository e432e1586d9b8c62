import { inspect } from 'node:util';
import type { ConfigProblem } from '../base/errors.ts';

/** How a wrong value is shown beside the rule it breaks. Pure. */

const MAX_SHOWN = 80;

/** Names whose values never leave the process, whatever they hold. */
const SECRET = /key_?-?file|credential|password|passwd|secret|token|private_?-?key|api_?-?key/i;

export type Path = readonly (string | number)[];

/** `pipelines.orders.table`: names joined by dots, a name with other characters in quotes. */
export const formatPath = (path: Path): string =>
  path.map((part) => (/^[\w$-]+$/.test(String(part)) ? String(part) : JSON.stringify(part))).join('.') || 'document';

export const problem = (path: Path, rule: string, value: unknown): ConfigProblem => ({
  path: formatPath(path),
  rule,
  got: path.some((part) => SECRET.test(String(part))) ? '(not shown)' : render(value),
});

/** A value as one short line. Of objects only the keys and of lists only the length: what is inside may be a secret. */
function render(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object' && value !== null) return shorten(`{${Object.keys(value).join(', ')}}`);
  return shorten(typeof value === 'string' ? JSON.stringify(value) : inspect(value));
}

const shorten = (text: string): string => (text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN - 1)}…` : text);
