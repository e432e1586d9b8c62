import { letterAttributes } from '../../../shared/letters/attributes.ts';
import { code, table } from './markdown.ts';

/** The table of the page of dead letters, made of the attributes that letters are written and read by. */
export const attributesTable = (): string =>
  table(
    ['attribute', 'holds', 'when it is published back'],
    letterAttributes.map(({ name, meaning, atReplay }) => [code(name), meaning, AT_REPLAY[atReplay]]),
  );

const AT_REPLAY = { kept: 'is kept', 'taken-off': 'is taken off' } as const;
