import { createRoot } from 'react-dom/client';
import './design/base.css';
import { App } from './shell/app.tsx';

// Who signed out and goes back must not see what the browser kept of the page.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload();
});

const root = document.getElementById('root');
if (root !== null) createRoot(root).render(<App />);
