import { expect, test } from 'vitest';
import { withSections } from '../../../../infra/tooling/reference/sections.ts';

const page = `# Page

<!-- sizes: made by npm run docs -->

old

<!-- end of sizes -->

By hand.
`;

test('a section is made anew between its comments, and what is written by hand stays', () => {
  const made = withSections(page, { sizes: 'new' });
  expect(made).toBe(page.replace('old', 'new'));
  expect(withSections(made, { sizes: 'new' })).toBe(made);
});

test('a page that lacks the comments of a section is refused with those that it needs', () => {
  expect(() => withSections(page, { roles: 'new' })).toThrow(
    'the page lacks <!-- roles: made by npm run docs --> and, after it, <!-- end of roles -->',
  );
});
