/** What tells the pages apart before their scripts run. */
interface SignInPage {
  /** By which the script finds its steps. */
  readonly name: string;
  readonly title: string;
  readonly script: 'auth.js' | 'approve.js';
  /** What to do where no script runs. */
  readonly without: string;
}

const pageOf = ({ name, title, script, without }: SignInPage): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="robots" content="noindex">
<title>${title} - Agent Governance Service</title>
<link rel="icon" type="image/svg+xml" href="/auth/assets/icon.svg">
<link rel="stylesheet" href="/auth/assets/tokens.css">
<link rel="stylesheet" href="/auth/assets/auth.css">
<script type="module" src="/auth/assets/${script}"></script>
</head>
<body data-page="${name}">
<header><img src="/auth/assets/icon.svg" alt="" width="24" height="24">Agent Governance Service</header>
<main>
<noscript>
<h1>${title}</h1>
<p>This page needs JavaScript. Switch it on for this site, then ${without}</p>
</noscript>
</main>
</body>
</html>
`;

const BY_LINK = 'open the link from the e-mail again.';

/** The same for everybody: what a page shows is made by its script, from what the API answers. */
export const SIGN_IN_PAGES = {
  login: pageOf({ name: 'login', title: 'Sign in', script: 'auth.js', without: 'load the page again.' }),
  confirm: pageOf({
    name: 'confirm',
    title: 'Sign in',
    script: 'auth.js',
    without: `${BY_LINK} Nothing was used: the link still works.`,
  }),
  approve: pageOf({
    name: 'approve',
    title: 'Approve',
    script: 'approve.js',
    without: `${BY_LINK} Nothing was decided: the link still works.`,
  }),
} as const;
