import { InvalidArgumentError } from 'commander';

/** Readers of option values, in the form that the argument parser takes. */

export function positiveWhole(text: string): number {
  const value = Number(text);
  if (!/^[0-9]+$/.test(text) || value < 1 || !Number.isSafeInteger(value)) {
    throw new InvalidArgumentError('It must be a whole number of at least 1.');
  }
  return value;
}

export function positiveNumber(text: string): number {
  const value = Number(text);
  if (!/^[0-9]+(\.[0-9]+)?$/.test(text) || value <= 0) throw new InvalidArgumentError('It must be a number above 0.');
  return value;
}

/** Gathers the values of an option that may be given again. */
export const repeated = (value: string, before: readonly string[] = []): string[] => [...before, value];
