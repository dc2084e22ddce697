import { afterEach, beforeEach, expect, it } from 'vitest';
import { keepPageOnDrop } from './keep-page-on-drop.ts';

let content: HTMLElement;

beforeEach(() => {
  keepPageOnDrop();
  content = document.createElement('div');
  content.innerHTML = '<p></p><input type="file"><input type="text">';
  document.body.append(content);
});

afterEach(() => content.remove());

const isRefused = (selector: string, type: 'dragover' | 'drop', dataTransfer: DataTransfer): boolean =>
  content
    .querySelector(selector)
    ?.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer })) === false;

it.each(['dragover', 'drop'] as const)(
  'a file that is dropped beside its field does not replace the page: %s',
  (type) => {
    const files = new DataTransfer();
    files.items.add(new File(['a'], 'statement.csv'));
    const text = new DataTransfer();
    text.setData('text/plain', 'a');
    expect(isRefused('p', type, files)).toBe(true);
    expect(isRefused('[type="text"]', type, files)).toBe(true);
    expect(isRefused('[type="file"]', type, files)).toBe(false);
    expect(isRefused('[type="text"]', type, text)).toBe(false);
  },
);
