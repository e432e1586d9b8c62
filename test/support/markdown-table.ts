/** The first column of every table of a page that stands in backticks: the names that the page documents. */
export const documentedNames = (page: string): string[] =>
  [...page.matchAll(/^\| `([^`]+)` +\|/gm)].map(([, name]) => name ?? '');
