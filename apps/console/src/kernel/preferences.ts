/** The only module that writes to the browser's storage: preferences, never a key or a token. boot.js reads them. */
export type Theme = 'system' | 'light' | 'dark';

const THEME = 'ags.theme';

export const chosenTheme = (): Theme => {
  const theme = localStorage.getItem(THEME);
  return theme === 'light' || theme === 'dark' ? theme : 'system';
};

export const chooseTheme = (theme: Theme): void => {
  if (theme === 'system') {
    localStorage.removeItem(THEME);
    delete document.documentElement.dataset['theme'];
    return;
  }
  localStorage.setItem(THEME, theme);
  document.documentElement.dataset['theme'] = theme;
};
