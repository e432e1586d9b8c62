import { decimalOf, formatDecimal } from './decimal.ts';
import { type FieldValue, NumberText } from './field-value.ts';

/**
 * The text that a scalar is compared by: equal numbers have equal texts, however they were written (`5`, `5.0`, `50e-1`).
 * Undefined for what is no text, number or boolean.
 */
export function scalarText(value: FieldValue): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  if (typeof value !== 'number' && typeof value !== 'bigint' && !(value instanceof NumberText)) return undefined;
  const decimal = decimalOf(value);
  if (!decimal) return value instanceof NumberText ? value.text : String(value);
  const text = formatDecimal(decimal);
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}
