/** The fenced blocks of one language in a Markdown text, in order, without their fences. */
export function fencedBlocks(markdown: string, language: string): string[] {
  const pattern = new RegExp(String.raw`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms');
  return Array.from(markdown.matchAll(pattern), ([, block = '']) => block);
}
