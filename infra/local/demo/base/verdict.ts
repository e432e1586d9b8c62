/** One thing that is counted in a run, and what it must be. Pure. */
export interface Check {
  readonly what: string;
  readonly got: number;
  readonly mustBe: number;
  readonly isRight: boolean;
}

export const exactly = (what: string, got: number, mustBe: number): Check => ({
  ...{ what, got, mustBe },
  isRight: got === mustBe,
});

/** For trouble that must have happened, or the run proves nothing. */
export const atLeast = (what: string, got: number, mustBe: number): Check => ({
  ...{ what: `${what} (at least)`, got, mustBe },
  isRight: got >= mustBe,
});

/** For what must not cost more. */
export const atMost = (what: string, got: number, mustBe: number): Check => ({
  ...{ what: `${what} (at most)`, got, mustBe },
  isRight: got <= mustBe,
});

/** The last line of a run. */
export function conclude(checks: readonly Check[]): string {
  const wrong = checks.filter(({ isRight }) => !isRight);
  if (wrong.length === 0) return 'Every count is as it must be.';
  return `WRONG: ${wrong.map(({ what, got, mustBe }) => `${what}: ${got} instead of ${mustBe}`).join('; ')}`;
}
