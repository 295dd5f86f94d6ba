// Before anything is drawn: the theme that a person chose, so that nothing flashes. kernel/preferences.ts writes it.
{
  const theme = localStorage.getItem('ags.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
}
