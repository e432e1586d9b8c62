/** Parts of a page that are made of the source, between two comments; the rest of the page is written by hand. Pure. */

const beginning = (name: string): string => `<!-- ${name}: made by npm run docs -->`;
const ending = (name: string): string => `<!-- end of ${name} -->`;

/**
 * @param sections by the name that stands in the comments.
 * @throws {Error} where the page lacks the comments of a section.
 */
export function withSections(page: string, sections: Readonly<Record<string, string>>): string {
  return Object.entries(sections).reduce((text, [name, content]) => {
    const start = text.indexOf(beginning(name));
    const end = text.indexOf(ending(name), start);
    if (start < 0 || end < 0) throw new Error(`the page lacks ${beginning(name)} and, after it, ${ending(name)}`);
    return `${text.slice(0, start)}${beginning(name)}\n\n${content}\n\n${text.slice(end)}`;
  }, page);
}
