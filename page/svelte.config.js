// A region that scrolls must be reachable by keys: axe asks for what this warning forbids.
const ALLOWED = new Set(['a11y_no_noninteractive_tabindex']);

export default {
  compilerOptions: {
    runes: true,
    // Class names depend on the styles alone, so that a build in any folder gives the same bytes.
    cssHash: ({ hash, css }) => `s-${hash(css)}`,
    // Templates are built with DOM calls, so the bundle sets no inner HTML at all.
    fragments: 'tree',
    warningFilter: (warning) => !ALLOWED.has(warning.code),
  },
};
