import { posix } from 'node:path';

/**
 * Pages link to files of the repository that are not part of the site. Shows such a link as its text, with the path of
 * the file as its title.
 *
 * @param {import('vitepress').MarkdownRenderer} md
 */
export function unlinkOutside(md) {
  md.core.ruler.push('unlink-outside', ({ tokens, env }) => {
    const folder = posix.dirname(env.relativePath ?? '');
    for (const { children } of tokens) {
      let isOutside = false;
      for (const token of children ?? []) {
        if (token.type === 'link_open') {
          const href = token.attrGet('href') ?? '';
          const target = posix.join(folder, href);
          isOutside = !/^(\w+:|\/|#)/.test(href) && target.startsWith('..');
          if (isOutside)
            token.attrs = [
              ['class', 'outside'],
              ['title', target.replace(/^(\.\.\/)+/, '')],
            ];
        }
        if (isOutside && (token.type === 'link_open' || token.type === 'link_close')) {
          if (token.type === 'link_close') isOutside = false;
          token.type = token.type === 'link_open' ? 'outside_open' : 'outside_close';
          token.tag = 'span';
        }
      }
    }
  });
}
