#error </pre><script>alert(1)</script><img src=x onerror=alert(1)> ]]> &amp; =HYPERLINK("x")
