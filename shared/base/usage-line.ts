/**
 * What an argument parser says of a wrong command line, in one line: what is wrong, the nearest name that it knows, and
 * where to read more. Pure.
 *
 * @param text as the parser words it, over several lines.
 */
export const usageLine = (text: string): string =>
  `${text.trim().replaceAll(/\s*\n\s*/g, ' ')} (--help shows what there is)\n`;
