// The styles hide the navigation of small screens only where a script can show it.
document.documentElement.dataset.script = '';

// This script runs before the page is drawn, so that a reader's choice of colours does not flicker.
try {
  const theme = localStorage.getItem('tidegate:theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // Without storage the page has the colours of the system.
}
