import { letterAttributes, SCAN_LETTER_ATTRIBUTES } from '../../../shared/letters/attributes.ts';
import { code, table } from './markdown.ts';

/** The table of the page of dead letters, made of the attributes that letters are written and read by. */
export const attributesTable = (): string =>
  table(
    ['attribute', 'holds', 'when it is published back'],
    letterAttributes.map(({ name, meaning, atReplay }) => [code(name), meaning, AT_REPLAY[atReplay]]),
  );

const AT_REPLAY = { kept: 'is kept', 'taken-off': 'is taken off' } as const;

/** The table of the attributes of a scan's letters. */
export const scanAttributesTable = (): string =>
  table(
    ['attribute', 'holds'],
    Object.values(SCAN_LETTER_ATTRIBUTES).map(({ name, meaning }) => [code(name), meaning]),
  );
