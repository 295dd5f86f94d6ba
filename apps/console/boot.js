// Applies the theme that the person chose before the first paint, so that the page does not flash in another theme.
// kernel/preferences.ts stores the choice.
{
  const theme = localStorage.getItem('ags.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
}
