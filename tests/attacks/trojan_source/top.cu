// ‮ } ⁦ if (isAdmin) ⁩ ⁦ begin admins only ⁩
